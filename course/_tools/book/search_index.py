"""The index of the site's search: every page, every name of the API and every file of source, with weights of words.

Mirrors: nothing in PyTorch: its docs are searched by a service of another company.
Leaves out: the search itself, which `static/search.js` makes in the reader's browser.

Sphinx's own index says which page has a word, but not how often, and it has no page of source. So a page that has the
word once is shown before the page about it, if its name is earlier in the alphabet. The index here has, for each word,
the pages with the weight of the word on the page, as BM25 computes it. BM25 is a common formula: a word weighs more if
few pages have it, if the page has it often, and if the page is short; a word of a title or a heading counts more.

The index is made from the files that Sphinx reads and not from the finished pages, so a test can make it without
Sphinx. `make_site` puts it in the place of Sphinx's `searchindex.js`, and reports an address that is not in the site.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from course._tools.layout import ROOT
from course._tools.notebook import read

WORD = re.compile(r"[a-z0-9_]+")
# The words of a compound name: `TensorIterator` and `cpu_kernel_vec` are also found by one of their words.
COMPOUND = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
TITLE, HEADING = 12, 5  # how often a word of these counts
SATURATION, LENGTH = 1.2, 0.7  # of BM25: how soon repetitions stop to count, and how much a long page loses
# How much a page counts by its kind: what explains a task before what lists names, and the source last.
KINDS = {"how to": 1.6, "lesson": 1.2, "page": 1.1, "exercises": 1.0, "API": 1.0, "source": 0.8, "list": 0.3}
# Pages whose kind does not follow from their suffix.
SPECIAL = {
    "howto/debugging.md": "page", "tutorial.md": "how to", "changes.md": "list", "names.md": "list",
    "source.md": "list", "api/index.rst": "list", "glossary.ipynb": "list",
}  # fmt: skip
DIRECTIVE = re.compile(r"^(?P<space> *)\.\. py:(?P<kind>\w+):: (?P<name>[\w.]+)", re.M)


@dataclass
class Document:
    """A document that a search can find: its address, the words shown for it, and the texts that are searched."""

    address: str
    title: str
    kind: str
    name: str = ""  # what a reader who knows the page types: the last part of a path or of a dotted name
    about: str = ""
    headings: str = ""
    text: str = ""
    counts: Counter[str] = field(default_factory=Counter)

    def count(self) -> None:
        """Count the words, those of the title and of headings several times."""
        joined = self.name.replace("_", "")  # `AccumulateGrad` finds accumulate_grad.h
        for text, times in ((f"{self.title} {joined}", TITLE), (self.headings, HEADING)):
            for word in [*words(text), *words(" ".join(COMPOUND.findall(text)))]:
                self.counts[word] += times
        self.counts.update(words(f"{self.about} {self.text}"))


def words(text: str) -> list[str]:
    """The words of a text as the index has them; `static/search.js` does the same to a question."""
    found = (word.strip("_") for word in WORD.findall(text.lower()))
    return [_singular(word) for word in found if len(word) > 1]


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "sui" else word


# --- documents --------------------------------------------------------------------------------------------------------


def documents(prepared: Path) -> Iterator[Document]:
    """Return all documents of a site, from the files that Sphinx reads and from the pages of source."""
    pages = prepared / "pages"
    for file in sorted(pages.rglob("*")):
        path = file.relative_to(pages).as_posix()
        if file.suffix == ".md":
            yield markdown_page(path, file.read_text())
        elif file.suffix == ".ipynb":
            cells = read(file)["cells"]
            yield markdown_page(path, "\n\n".join(cell["source"] for cell in cells if cell["cell_type"] == "markdown"))
        elif file.suffix == ".rst":
            yield from api_page(path, file.read_text())
    source = prepared / "extra" / "source"
    for file in sorted(source.rglob("*.html")):
        yield source_page(file.relative_to(source).as_posix().removesuffix(".html"))


def markdown_page(path: str, text: str) -> Document:
    """A page that is written in Markdown, or the Markdown of a notebook."""
    text = re.sub(r"^```\{.*?^```$|<!--.*?-->|<[^>]*>", "", text, flags=re.S | re.M)  # directives, remarks, HTML
    text = re.sub(r"\]\([^)]*\)", "]", text)  # where links lead
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)
    title, *headings = re.findall(r"^#+ +(.*)", prose, re.M) or [path]
    first = re.search(r"^(?![#>|!\-\d])\S.*(?:\n\S.*)*", prose, re.M)
    return Document(
        re.sub(r"\.\w+$", ".html", path), _plain(title), _kind(path),
        about=_sentence(first[0] if first else ""), headings=" ".join(headings), text=text,
    )  # fmt: skip


def api_page(path: str, text: str) -> Iterator[Document]:
    """The documents of a page of the API: the page, and each name that it describes."""
    address = path.removesuffix(".rst") + ".html"
    title, _, rest = text.partition("\n")
    outer: list[tuple[int, str]] = []  # the module and the classes around a name, with their columns
    found = list(DIRECTIVE.finditer(rest))
    start = rest[: found[0].start()] if found else rest
    page = Document(address, title, _kind(path), name=title, about=_sentence(_first_paragraph(start)), text=start)
    bounds = [*(each.start() for each in found), len(rest)]
    for here, end in zip(found, bounds[1:], strict=True):
        column, body = len(here["space"]), rest[here.end() : end]
        signature, _, body = body.partition("\n")
        if here["kind"] in ("module", "currentmodule"):
            outer = [(-1, here["name"])]
            page.about, page.text = page.about or _sentence(_first_paragraph(body)), f"{page.text} {body}"
            continue
        outer = [(at, name) for at, name in outer if at < column]
        full = ".".join([name for _, name in outer] + [here["name"]])
        outer.append((column, here["name"]))
        about = _sentence(_first_paragraph(body))
        yield Document(f"{address}#{full}", full, "API", here["name"].rsplit(".", 1)[-1], about, text=signature + body)
    yield page


def source_page(path: str) -> Document:
    """A file of source: its name, the sentence of its head, what it defines, and all its words."""
    text = (ROOT / path).read_text()
    name = path.rsplit("/", 1)[-1]
    stem = name.split(".")[0]
    head = re.match(r'(?:#.*\n|\s*\n)*(?:r?"""(?P<doc>(?:[^"]|"(?!""))*)"""|(?P<lines>(?://.*\n)+))', text)
    said = re.sub(r"^// ?", "", (head["doc"] or head["lines"]) if head else "", flags=re.M)
    paragraphs = [part for part in re.split(r"\n\s*\n", said) if part.strip() and not part.startswith("Mirrors:")]
    defined = re.findall(r"^(?:template.*>\s*)?(?:class|struct|def|namespace|#define|enum class) +(\w+)", text, re.M)
    return Document(
        f"source/{path}.html", path, "source", stem, _sentence(paragraphs[0] if paragraphs else ""),
        headings=" ".join(defined), text=text,
    )  # fmt: skip


def _kind(path: str) -> str:
    special = (kind for name, kind in SPECIAL.items() if path.endswith(name))
    usual = {"howto": "how to", "exercises.ipynb": "exercises", ".ipynb": "lesson", ".rst": "API"}
    return next(special, None) or next((kind for part, kind in usual.items() if part in path), "page")


def _first_paragraph(text: str) -> str:
    paragraphs = (part for part in re.split(r"\n\s*\n", text) if part.strip())
    return next((part for part in paragraphs if not re.match(r"\s*(?:\.\.|:|Source: )", part)), "")


def _sentence(text: str) -> str:
    """The first sentence of a paragraph, without markup, and not too long."""
    text = _plain(text)
    end = re.search(r"[.:](?= |$)", text)
    text = text[: end.start()] if end else text
    text = text if " " in text else ""
    return text if len(text) <= 160 else text[:160].rsplit(" ", 1)[0] + " ..."


def _plain(text: str) -> str:
    text = re.sub(r":[\w:]+:`~?([^`<]*?)(?: *<[^>]*>)?`", r"\1", text)
    return " ".join(re.sub(r"\{[\w:]+\}(?=`)|[`*\[\]]", "", text).split())


# --- the index --------------------------------------------------------------------------------------------------------


def index(found: Iterable[Document]) -> str:
    """The file that the search page loads.

    For each word, the file has a list of numbers: a document, as the distance from the document before it in the list,
    and the weight of the word there.
    """
    documents = list(found)
    lengths: dict[str, list[int]] = {}
    for document in documents:
        document.count()
        lengths.setdefault(document.kind, []).append(document.counts.total())
    usual = {kind: sum(each) / len(each) for kind, each in lengths.items()}
    places: dict[str, list[tuple[int, float]]] = {}
    for number, document in enumerate(documents):
        long = 1 - LENGTH + LENGTH * document.counts.total() / usual[document.kind]
        for word, times in document.counts.items():
            weight = times * (SATURATION + 1) / (times + SATURATION * long)
            places.setdefault(word, []).append((number, weight * KINDS[document.kind]))
    rows = {}
    for word, weights in sorted(places.items()):
        rarity = math.log(1 + (len(documents) - len(weights) + 0.5) / (len(weights) + 0.5))
        numbers, last = [], 0
        for number, weight in weights:
            numbers += [number - last, max(1, round(10 * rarity * weight))]
            last = number
        rows[word] = numbers
    shown = [[each.address, each.title, each.about, each.kind, each.name] for each in documents]
    return (
        f"Search.setIndex({json.dumps({'documents': shown, 'words': rows}, separators=(',', ':'), ensure_ascii=False)})"
    )
