"""The documentation holds together: pages can be reached, and links lead somewhere."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GENERATED = {"_build", "_templates", "gallery", "generated"}  # not ours, or written by the build
PICTURE = re.compile(r"gallery/images/sphx_glr_(plot_\w+)_(\d{3})\.png")

PAGES = sorted(
    path
    for suffix in ("*.md", "*.rst")
    for path in DOCS.rglob(suffix)
    if path.relative_to(DOCS).parts[0] not in GENERATED and path.name != "sg_execution_times.rst"
)
PROSE = [*PAGES, *sorted(ROOT.glob("*.md"))]

TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^(```+|~~~+).*?^\1$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"!?\[[^\]\[]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
INCLUDE = re.compile(r"^```\{(?:literal)?include\}\s+(\S+)", re.MULTILINE)
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)


def name_of(page):
    return page.relative_to(DOCS).with_suffix("").as_posix()


def entries(text):
    """The documents that the toctrees of a page list."""
    lines = [line.strip() for body in TOCTREE.findall(text) for line in body.splitlines()]
    return [re.sub(r".*<(.+)>$", r"\1", line) for line in lines if line and line[0] != ":"]


def reachable(start="index"):
    seen, waiting = set(), [start]
    while waiting:
        page = waiting.pop()
        path = DOCS / f"{page}.md"
        if page in seen:
            continue
        seen.add(page)
        if path.exists():
            waiting += entries(path.read_text(encoding="utf-8"))
    return seen


def anchors(text):
    """The link targets that a page's headings make, as GitHub and MyST form them."""
    headings = HEADING.findall(FENCED.sub("", text))
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in plain}


def links(text):
    """Every link target outside code."""
    return LINK.findall(CODE.sub("", FENCED.sub("", text)))


def drawn(target):
    """Whether the build makes this picture: the gallery numbers those that an example shows."""
    found = PICTURE.fullmatch(target)
    example = ROOT / "examples" / f"{found[1]}.py" if found else None
    if example is None or not example.exists():
        return False
    return 1 <= int(found[2]) <= example.read_text(encoding="utf-8").count("plt.show()")


def broken(page, text):
    """The internal links and includes of a page that lead nowhere."""
    wrong = []
    for target in links(text):
        if re.match(r"[a-z][a-z0-9+.-]*:", target) or drawn(target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists():
            wrong.append(target)
        elif anchor and path.suffix == ".md":
            there = text if path == page else path.read_text(encoding="utf-8")
            if anchor not in anchors(there):
                wrong.append(target)
    return wrong + [name for name in INCLUDE.findall(text) if not (page.parent / name).exists()]


def test_there_are_pages():
    assert {"index", "idea", "choosing", "corrections", "api"} <= {name_of(page) for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_page_is_in_a_toctree(page):
    assert name_of(page) in reachable()


def test_every_toctree_entry_is_a_page():
    ours = {page for page in reachable() if page.split("/")[0] not in GENERATED}
    assert ours <= {name_of(page) for page in PAGES}


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_internal_link_leads_somewhere(page):
    assert broken(page, page.read_text(encoding="utf-8")) == []


def test_a_picture_that_no_example_draws_is_seen():
    assert drawn("gallery/images/sphx_glr_plot_reductions_001.png")
    assert not drawn("gallery/images/sphx_glr_plot_reductions_009.png")
    assert not drawn("gallery/images/sphx_glr_plot_nothing_001.png")


def test_a_broken_link_is_seen():
    page = DOCS / "index.md"
    text = "# A heading\n[a](#a-heading) [b](#nowhere) [c](missing.md) [d](idea.md#nowhere)\n"
    assert broken(page, text) == ["#nowhere", "missing.md", "idea.md#nowhere"]
    assert broken(page, "```{literalinclude} ../argmax/missing.py\n```\n") == [
        "../argmax/missing.py"
    ]
    assert broken(page, "`[x](missing.md)` and [y](https://example.org/missing.md)\n") == []


# An absolute path into a home, a mount or a working folder, or a drive of Windows.
MACHINE = re.compile(
    r"(?:file://|(?<![\w./:~}$*-]))/(?:home|root|Users|work|workspace|mnt|media|data|srv|opt|tmp)/\w"
    r"|(?<!\w)[A-Za-z]:\\{1,2}Users\\"
)


def text_files():
    """Every file of the project that is text: tracked, or about to be."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    for name in sorted(set(listed.decode().split("\0")) - {""}):
        path = ROOT / name
        if path.is_file() and b"\0" not in (content := path.read_bytes()):
            yield name, content.decode("utf-8", errors="replace")


def test_no_path_belongs_to_one_machine():
    found = {
        f"{name}:{number}: {line.strip()}"
        for name, text in text_files()
        for number, line in enumerate(text.splitlines(), 1)
        if MACHINE.search(line)
    }
    assert found == set()


@pytest.mark.parametrize("top", ["home", "root", "Users", "work", "tmp"])
def test_a_machine_path_is_seen(top):
    assert MACHINE.search(f"see '/{top}/somebody/notes.txt'")
    assert MACHINE.search(f"file:///{top}/somebody/notes.txt")
    assert not MACHINE.search(f"https://example.org/{top}/page")
    assert not MACHINE.search(f"docs/{top}/page")
