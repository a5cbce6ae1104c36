"""Words and patterns of the sentences in ``corpus``: everyday English, and as ambiguous as that.

A pattern is a list of ``word/TAG`` and of slots: ``{noun}`` takes a word from LEXICON, and ``{person}``,
``{place}`` and ``{company}`` a name from NAMES. Many words have several tags (*can, watch, saw, left, that,
to*), and many names several types (*Jordan, Ford, Chelsea, Santander*): only their neighbours tell which is
meant.
"""

from __future__ import annotations

__all__ = ["ENDINGS", "LEXICON", "NAMES", "PATTERNS", "SYLLABLES"]

PATTERNS = (
    "{person} {works} {near} {company} in/ADP {place} ./PUNCT",
    "{person} {saw} {the} {adjective} {noun} {near} {place} ./PUNCT",
    "{company} will/AUX {work} {the} {noun} {near} {place} {when} ./PUNCT",
    "{name} and/CCONJ {name} {saw} {the} {noun} ./PUNCT",
    "{the} {noun} of/ADP {name} {works} {near} {name} ./PUNCT",
    "{who} can/AUX {work} {the} can/NOUN ,/PUNCT said/VERB {person} ./PUNCT",
    "{who} {saw} her/DET {noun} {when} ./PUNCT",
    "{who} {saw} her/PRON {work} {when} ./PUNCT",
    "{who} {saw} that/SCONJ {plural} {work} ./PUNCT",
    "{who} {saw} that/DET {noun} {work} ./PUNCT",
    "that/DET {noun} {works} like/ADP {the} {noun} ./PUNCT",
    "that/PRON is/AUX {the} {noun} that/PRON {name} {saw} ./PUNCT",
    "{noun} {plural} {work} like/ADP {plural} ./PUNCT",
    "{plural} {work} ,/PUNCT and/CCONJ {noun} {plural} like/VERB {the} {noun} ./PUNCT",
    "{who} want/VERB to/PART {work} to/ADP {name} {when} ./PUNCT",
    "{who} {work} to/ADP {plural} {when} ./PUNCT",
    "{the} {noun} {saw} {number} {plural} to/ADP {place} ./PUNCT",
    "{person} ,/PUNCT {the} {noun} of/ADP {name} ,/PUNCT {saw} {adverb} ./PUNCT",
    "{when} {name} {saw} {name} {near} {name} ./PUNCT",
    "does/AUX {name} {work} {the} {noun} ?/PUNCT",
    "will/AUX {name} {work} {adverb} {near} {name} ?/PUNCT",
    "can/AUX {who} {work} to/ADP {place} ?/PUNCT",
    "may/AUX {person} {work} {the} {noun} in/ADP May/PROPN ?/PUNCT",
    "{name} {saw} {adjective} {plural} {when} ./PUNCT",
    "{company} {saw} {number} {plural} {when} ,/PUNCT {person} said/VERB ./PUNCT",
    "{person} left/VERB {company} and/CCONJ {saw} to/ADP {place} ./PUNCT",
    "{the} {adjective} {noun} {works} {adverb} ./PUNCT",
    "{the} {noun} {noun} {works} {adverb} ./PUNCT",
    "{who} {work} {adjective} {plural} {near} {name} ./PUNCT",
    "{who} {work} {noun} {plural} {near} {name} ./PUNCT",
    "{the} {noun} {works} back/ADV to/ADP {the} back/NOUN of/ADP {the} {noun} ./PUNCT",
    "no/DET one/PRON {saw} {number} {plural} ,/PUNCT but/CCONJ one/NUM {noun} {saw} {name} ./PUNCT",
    "{who} {saw} it/PRON while/SCONJ {the} {noun} of/ADP {name} {saw} {when} ./PUNCT",
    "{person} and/CCONJ {who} {work} {the} {adjective} {noun} for/ADP {number} {plural} ./PUNCT",
    "{name} won/VERB ./PUNCT",
    "{name} {saw} {when} ./PUNCT",
    "{who} like/VERB {name} ,/PUNCT {name} said/VERB ./PUNCT",
    "{the} {noun} about/ADP {name} {works} {adverb} ./PUNCT",
)

_BOTH = (
    "work", "watch", "book", "order", "ship", "plan", "run", "play", "call", "report", "visit",
    "drive", "show", "cost", "change", "start", "turn", "study", "light", "can", "answer", "paint",
    "move", "test", "offer", "rest",
)  # fmt: skip
_VERBS = (
    "bring", "write", "carry", "build", "find", "follow", "keep", "open", "need", "join", "send",
)  # fmt: skip
_NOUNS = (
    "garden", "engine", "letter", "market", "river", "doctor", "teacher", "picture", "window",
    "table", "story", "mark", "bill", "rose", "saw", "flat", "back", "left", "present", "board",
    "bank", "station", "winner",
)  # fmt: skip
_PAST = (
    "saw", "left", "found", "built", "wrote", "sent", "kept", "met", "rose", "moved", "opened",
    "called", "played", "visited", "ordered", "changed", "shipped", "watched", "reported", "showed",
    "followed", "tested", "joined",
)  # fmt: skip


def _with_s(word: str) -> str:
    if word.endswith("y") and word[-2] not in "aeo":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("ch", "sh", "s")) else "s")


LEXICON = {
    "noun": ("NOUN", (*_BOTH, *_NOUNS)),
    "plural": ("NOUN", tuple(map(_with_s, (*_BOTH, *_NOUNS)))),
    "work": ("VERB", (*_BOTH, *_VERBS, "mark", "back")),
    "works": ("VERB", tuple(map(_with_s, (*_BOTH, *_VERBS)))),
    "saw": ("VERB", _PAST),
    "adjective": ("ADJ", (
        "light", "open", "clean", "present", "free", "old", "new", "quiet", "green", "flat", "left",
        "early", "careful", "famous", "central", "heavy", "local", "calling", "broken", "hidden",
        "painted", "following",
    )),
    "adverb": ("ADV", (
        "well", "back", "early", "quickly", "quietly", "again", "there", "alone", "carefully",
        "together", "left",
    )),
    "the": ("DET", ("the", "the", "the", "a", "this", "that", "every", "her", "his", "their", "no")),
    "who": ("PRON", ("they", "we", "you", "I", "those", "many", "some")),
    "near": ("ADP", ("in", "in", "near", "for", "at", "of")),
    "when": ("ADV", ("today", "tomorrow", "later", "now", "again", "soon")),
    "number": ("NUM", ("two", "three", "seven", "12", "40", "1984", "2,500", "3.5", "one")),
}  # fmt: skip
"""Words of each slot, and the tag that they have there."""

NAMES = {
    "person": (
        ("Mary", "John", "Jordan", "Paris", "Chelsea", "Will", "Mark", "Rose", "Bill", "May",
         "Sydney", "Austin", "Ada", "Omar", "Lin", "Ines", "Victor", "Florence"),
        ("Ford", "Lincoln", "Washington", "London", "Booth", "Marsh", "Baker", "Chase", "Wells",
         "Dell"),
    ),
    "place": (
        ("Paris", "Jordan", "Chelsea", "Sydney", "Austin", "London", "Lincoln", "Washington",
         "Phoenix", "Florence", "Santander", "Victoria", "Oslo", "Cairo", "New York", "San Marino",
         "Lake Victoria", "Rio de Janeiro"),
        (),
    ),
    "company": (
        ("Ford", "Chelsea", "Santander", "Phoenix", "Dell", "Chase", "Wells", "Orange", "Apple",
         "Victoria", "Bank of Chelsea", "University of Florence", "Lincoln Motors", "Washington Post",
         "Marsh and Baker"),
        ("Motors", "Bank", "Group", "Press", "United", "Brothers"),
    ),
}  # fmt: skip
"""Names of each type, and what may follow: surnames of persons, the kind of a company."""

SYLLABLES = (
    "ba", "do", "ka", "li", "mar", "no", "pe", "ra", "sti", "tor", "ven", "wil", "gru", "sha", "qui",
)  # fmt: skip
ENDINGS = {
    "person": ("son", "ez", "ski", "i", "er", "ton"),
    "place": ("ville", "burg", "ton", "ia", "ford", "er"),
    "company": ("tec", "soft", "co", "ton", "ia", "ford"),
    "noun": ("er", "ing", "ment", "ness", "ate"),
    "plural": ("ers", "ings", "ments", "ates"),
    "work": ("ize", "ate", "er"),
    "works": ("izes", "ates", "ers"),
    "saw": ("ed", "ized", "ated"),
    "adjective": ("ous", "y", "ing", "ed"),
}
"""Words that nobody has met are made of syllables. Their endings give them away, more or less."""
