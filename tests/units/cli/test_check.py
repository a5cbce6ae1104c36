"""What ``argmax check`` finds, and how it ends."""

import json

import numpy as np
import pytest

RNG = np.random.default_rng(0)


def csv(rows, header="size,city,note,label"):
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


def honest(n=120):
    """Rows in which nothing is wrong."""
    words = ["red wine", "white bread", "old cheese", "new milk", "sweet fruit", "salty soup"]
    return [
        [
            round(float(RNG.normal()), 6),
            f"city {i % 7}",
            f"{words[i % 6]} number {i}",
            "ab"[i * 7 % 11 % 2],
        ]
        for i in range(n)
    ]


@pytest.fixture
def check(argmax, write):
    """check(text): the codes and severities of the findings in a table, and the whole result."""

    def call(text, *options, test=None):
        files = [write("data.csv", text)] + ([write("test.csv", test)] if test else [])
        result = argmax("check", *files, "--target", "label", "--json", *options)
        assert result.json is not None, result.err
        found = {finding["code"]: finding for finding in result.json.get("findings", [])}
        return result, found

    return call


def test_nothing_is_found_where_nothing_is_wrong(check):
    result, found = check(csv(honest()))
    assert (result.code, found) == (0, {})
    assert result.json["rows"] == 120
    assert set(result.json["classes"]) == {"a", "b"}
    kinds = {column["name"]: column["kind"] for column in result.json["columns"]}
    assert kinds == {"size": "number", "city": "category", "note": "text", "label": "category"}


def test_repeated_rows_and_conflicting_labels(check):
    rows = honest()
    again = [*rows[3][:3], "a" if rows[3][3] == "b" else "b"]
    result, found = check(csv([*rows, rows[5], again]))
    assert result.code == 0
    assert (found["duplicates"]["count"], found["duplicates"]["rows"]) == (2, [120, 121])
    assert (found["conflicts"]["count"], found["conflicts"]["rows"]) == (2, [3, 121])


def test_empty_texts_and_missing_labels(check):
    rows = honest()
    rows[7][2], rows[8][2], rows[9][3] = "", '"  "', ""
    _, found = check(csv(rows), "--kinds", "note=text")
    assert found["empty-text"]["count"] == 2
    assert (found["unlabelled"]["count"], found["unlabelled"]["rows"]) == (1, [9])


def test_constant_columns_and_identifiers_are_notes(check):
    rows = [[i + 1000, "always", *row] for i, row in enumerate(honest())]
    result, found = check(csv(rows, "number,same,size,city,note,label"))
    assert result.code == 0
    assert found["constant"]["column"] == "same"
    assert found["identifier"]["column"] == "number"


def test_a_copy_of_the_target_is_an_error(check):
    rows = [[*row[:3], {"a": "yes", "b": "no"}[row[3]], row[3]] for row in honest()]
    result, found = check(csv(rows, "size,city,note,status,label"))
    assert result.code == 1
    assert found["leak"]["severity"] == "error"
    assert found["leak"]["column"] == "status"
    assert "--kinds 'status=ignore'" in found["leak"]["message"]


def test_a_number_that_gives_the_class_is_found(check):
    rows = [[*row[:3], round((row[3] == "a") + RNG.random() / 2, 3), row[3]] for row in honest(400)]
    _, found = check(csv(rows, "size,city,note,closed_after,label"))
    assert found["leak"]["column"] == "closed_after"


def test_words_that_give_the_class_away_are_found(check):
    rows = [[*row[:2], f"{row[2]} routed{row[3]}", row[3]] for row in honest(300)]
    result, found = check(csv(rows))
    assert result.code == 1
    assert found["leak"]["column"] == "note"
    assert "'routeda' for 'a'" in found["leak"]["message"]


def test_an_identifier_that_goes_with_the_class(check):
    rows = [[f"{row[3]}{row[3]}-{i:04}", *row] for i, row in enumerate(honest(200))]
    _, found = check(csv(rows, "ticket,size,city,note,label"))
    assert found["id-leak"]["severity"] == "warning"


def test_rows_sorted_by_class_are_a_note(check):
    result, found = check(csv(sorted(honest(300), key=lambda row: row[3])))
    assert found["sorted"]["severity"] == "note"
    assert result.code == 0


def test_one_class_is_an_error(check):
    result, found = check(csv([[*row[:3], "a"] for row in honest()]))
    assert (result.code, found["one-class"]["severity"]) == (1, "error")


def test_a_number_for_a_target_is_an_error(check):
    result, found = check(csv([[*row[:3], i * 1.5] for i, row in enumerate(honest())]))
    assert (result.code, found["not-classes"]["count"]) == (1, 120)


def test_rare_classes_and_classes_alike(check):
    rows = honest()
    rows[0][3], rows[1][3] = "A ", "rare"
    _, found = check(csv(rows), "--read", "format=csv")
    assert "'rare'" in found["rare-classes"]["message"]
    assert "'A '" in found["alike-classes"]["message"]


def test_rows_of_the_test_file_that_were_learned_from(check):
    rows, others = honest(), honest(40)
    result, found = check(csv(rows), test=csv([*others, rows[2]]))
    assert (result.code, found["overlap"]["severity"], found["overlap"]["count"]) == (
        0,
        "warning",
        1,
    )
    others[0][3] = "c"
    result, found = check(csv(rows), test=csv([*others, *rows[:20]]))
    assert (result.code, found["overlap"]["severity"]) == (1, "error")
    assert "'c'" in found["unseen-classes"]["message"]


def test_a_test_file_without_the_columns(argmax, write):
    data, test = write("data.csv", csv(honest())), write("test.csv", "size,label\n1,a\n")
    result = argmax("check", data, test, "--target", "label")
    assert result.code == 2
    assert "lacks the columns 'city', 'note'" in result.err


def test_for_people(argmax, place):
    result = argmax("check", place / "tickets.csv", "--target", "team")
    assert result.code == 0
    assert "waiting_minutes  number" in result.out
    assert "Classes of team: 7" in result.out
    assert "warning  " in result.out
    assert result.err.startswith("Read 400 rows")


def test_class_names_do_not_move_the_cursor(argmax, write):
    path = write("data.jsonl", "".join(
        json.dumps({"x": i % 5, "label": "\x1b[2Jbad" if i % 2 else "=cmd()"}) + "\n" for i in range(40)
    ))  # fmt: skip
    result = argmax("check", path, "--target", "label")
    assert "\x1b" not in result.out
    assert "bad" in result.out
