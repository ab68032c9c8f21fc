"""Turns a docstring of reftorch into reStructuredText that Sphinx reads without a warning.

The dialect of the docstrings: a sentence, formulas in ``:math:``, the sections ``Args:``, ``Shape:``, ``Raises:``,
``Returns:``, ``Example:``, a line ``Mirrors ...``, and for an op ``Schemas:``. A section becomes a field or a block of
code; a cross reference such as ``:func:`backward``` is resolved here, because its meaning depends on the module that
the docstring is in.

Mirrors: torch/_torch_docs.py (``parse_kwargs`` and the dialect; PyTorch's docs use Sphinx's extension napoleon)
Leaves out: docstrings in the dialects of numpy and of plain Sphinx; there are none.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator

Resolve = Callable[[str], "str | None"]

SECTIONS = {
    "Args": "param",
    "Attributes": "ivar",
    "Raises": "raises",
    "Shape": "Shape",
    "Returns": "returns",
    "Yields": "Yields",
    "Example": "code",
    "Examples": "code",
    "Schemas": "schemas",
}
HEAD = re.compile(rf"(?P<name>{'|'.join(SECTIONS)})::?(?: +(?P<rest>.*))?$")
# An item of Args: one name or several, what else is said in brackets, and the text.
ITEM = re.compile(r"(?P<names>[\w.*`\"\[\]/-]+(?:, (?:and )?[\w.*`\"-]+)*)(?P<kind> \([^)]*\))?: +(?P<text>.*)$")
# What is not prose: code, a role, a link, emphasis.
MARKED = re.compile(
    r"``.+?``|(?<!`)`(?!`)[^`]+`(?:_{1,2})?|:[a-z:]+:`[^`]+`"
    r"|(?<![\w*])\*\*\w[^*]*\*\*(?![\w*])|(?<![\w*(])\*\w[^*\n]*\w\*(?![\w*])",
    re.S,
)
ROLE = re.compile(r":(?:py:)?(?P<role>func|class|meth|mod|attr|obj|exc|data):`(?P<text>[^`]+)`")
SIGNATURE = re.compile(r"[\w.]+\(.*\)(?: -> .+)?$")


def split(doc: str) -> tuple[list[str], str]:
    """Return the signatures with which the docstring of an op begins, and the rest."""
    lines = inspect.cleandoc(doc).splitlines()
    signatures = []
    while lines and SIGNATURE.match(lines[0]):
        signatures.append(lines.pop(0))
    return signatures, "\n".join(lines).strip()


def to_rst(doc: str, resolve: Resolve) -> str:
    """Return the reStructuredText of a docstring.

    Args:
        doc: the docstring, without signatures; a last line ``Mirrors ...`` is left out, because the page says it with
            links.
        resolve: turns the target of a cross reference into the full name that has a place on the site, or None.
    """
    blocks: list[str] = []
    fields: list[str] = []
    for name, lines in _sections(inspect.cleandoc(doc).splitlines()):
        if not name:
            blocks += [*_flush(fields), _prose(lines, resolve)]
        elif SECTIONS[name] == "code":
            blocks += [*_flush(fields), f".. rubric:: {name}", _example(lines)]
        elif SECTIONS[name] == "schemas":
            blocks += [*_flush(fields), ".. rubric:: Schemas", _literal("text", lines)]
        else:
            fields += _fields(SECTIONS[name], lines, resolve)
    return "\n\n".join(block for block in [*blocks, *_flush(fields)] if block.strip())


def _sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The pieces of a docstring, each with the name of its section; prose has none."""
    prose: list[str] = []
    i = 0
    while i < len(lines):
        found = HEAD.match(lines[i])
        if re.match(r"Mirrors:? ", lines[i]) or (lines[i].startswith("Leaves out:") and not found):
            i += 1
            while i < len(lines) and lines[i].strip():
                i += 1
            continue
        if found is None:
            prose.append(lines[i])
            i += 1
            continue
        yield "", prose
        prose = []
        body = [found["rest"]] if found["rest"] else []
        i += 1
        while i < len(lines):
            goes_on = lines[i].startswith(" ") or (not lines[i] and _indented_later(lines, i))
            if found["rest"]:
                goes_on = bool(lines[i].strip())
            if not goes_on:
                break
            body.append(lines[i])
            i += 1
        yield found["name"], inspect.cleandoc("\n".join(["", *body])).splitlines()
    yield "", prose


def _indented_later(lines: list[str], i: int) -> bool:
    rest = [line for line in lines[i:] if line.strip()]
    return bool(rest) and rest[0].startswith(" ")


def _flush(fields: list[str]) -> list[str]:
    """Return the collected fields as one block, and empty the list."""
    block = ["\n".join(fields)] if fields else []
    fields.clear()
    return block


def _fields(kind: str, lines: list[str], resolve: Resolve) -> Iterator[str]:
    if kind in ("Shape", "returns", "Yields"):
        yield f":{kind}: {_indent(_prose(lines, resolve))}"
        return
    if kind == "ivar":  # a field for each attribute would be a reference by its short name
        items = [
            each.replace(":ivar ", "- **", 1).replace(": ", "**: ", 1) for each in _fields("ivar ", lines, resolve)
        ]
        yield ":Attributes:\n    " + "\n".join(items).replace("\n", "\n    ")
        return
    name, text = "", [""]
    for line in lines:
        found = ITEM.match(line)
        if found is None:
            text.append(line)
            continue
        if name or any(text):
            yield _field(kind, name, text, resolve)
        name = found["names"].replace("`", "") + (found["kind"] or "")
        text = [found["text"]]
    yield _field(kind, name, text, resolve)


def _field(kind: str, name: str, text: list[str], resolve: Resolve) -> str:
    first, rest = text[0], inspect.cleandoc("\n".join(["", *text[1:]]))
    body = _prose(f"{first}\n{rest}".strip().splitlines(), resolve)
    if not name:
        return f":{kind if kind == 'raises' else 'Arguments'}: {_indent(body)}"
    name = name.replace("*", r"\*").replace("_ ", r"\_ ")
    return f":{kind.strip()} {name}: {_indent(body)}"


def _indent(text: str, width: int = 4) -> str:
    return text.replace("\n", "\n" + " " * width)


def _example(lines: list[str]) -> str:
    code = "\n".join(lines)
    return _literal("pycon" if ">>>" in code else "python", lines)


def _literal(language: str, lines: list[str]) -> str:
    text = inspect.cleandoc("\n".join(["", *lines]))
    return f".. code-block:: {language}\n\n    {_indent(text)}" if text.strip() else ""


def _prose(lines: list[str], resolve: Resolve) -> str:
    """Paragraphs, lists and directives; what prose means to reStructuredText alone is escaped."""
    done: list[str] = []
    chunk: list[str] = []

    def close() -> None:
        if chunk:
            done.append(inline("\n".join(chunk), resolve))
            chunk.clear()

    i = 0
    while i < len(lines):
        line = lines[i]
        directive = re.match(r"\s*\.\. [\w:-]+::", line)
        if directive or line.rstrip().endswith("::") or line.lstrip().startswith(">>>"):
            example = line.lstrip().startswith(">>>")
            if directive or example:
                close()
                done.append("")
            else:
                chunk.append(line)
                close()
            if directive:
                done.append(line)
            elif example:
                i -= 1
            width = len(line) - len(line.lstrip())
            i += 1
            block = []
            while i < len(lines):
                inside = len(lines[i]) - len(lines[i].lstrip()) > width or not lines[i].strip()
                if example:
                    inside = bool(lines[i].strip())
                if not inside:
                    break
                block.append(lines[i])
                i += 1
            if directive:
                done += block
            else:
                indent = " " * width
                text = inspect.cleandoc("\n".join(["", *block]))
                language = "pycon" if ">>>" in text else "text"
                if not example:  # the paragraph's two colons go, and the block says its language
                    done[-1] = done[-1].rstrip()[:-1]
                done += ["", f"{indent}.. code-block:: {language}", "", f"{indent}    {_indent(text, width + 4)}", ""]
            continue
        if line.lstrip().startswith("- ") and chunk and chunk[-1].strip() and not chunk[-1].lstrip().startswith("- "):
            chunk += [""] if _width(line) <= _width(chunk[-1]) else []  # a list begins after an empty line
        chunk.append(line)
        i += 1
    close()
    return "\n".join(done).strip("\n")


def _width(line: str) -> int:
    return len(line) - len(line.lstrip())


def inline(text: str, resolve: Resolve) -> str:
    """Escape what is prose, resolve references, and make code of the text in single backticks."""
    out, last = [], 0
    for found in MARKED.finditer(text):
        out += [_escape(text[last : found.start()]), _marked(found[0], resolve)]
        last = found.end()
        if last < len(text) and (text[last].isalnum() or text[last] == "("):
            out.append("\\ ")  # markup ends before white space or punctuation only
        if out[-2:] and found.start() and re.match(r"\w", text[found.start() - 1]):
            out.insert(len(out) - 1 - (out[-1] == "\\ "), "\\ ")
    return "".join([*out, _escape(text[last:])])


def _escape(prose: str) -> str:
    prose = re.sub(r"\\", r"\\\\", prose)
    prose = re.sub(r"([*|`])", r"\\\1", prose)
    return re.sub(r"(?<=\w)_(?![A-Za-z0-9_])", r"\\_", prose)


def _marked(piece: str, resolve: Resolve) -> str:
    role = ROLE.fullmatch(piece)
    if role is None:
        if piece.startswith("`") and not piece.startswith("``") and not piece.endswith("_"):
            return f"``{piece[1:-1]}``"
        return piece
    text = role["text"]
    words, target = text, text
    explicit = re.fullmatch(r"(.+?)\s*<([^>]+)>", text, re.S)
    if explicit:
        words, target = explicit[1], explicit[2]
    if target.startswith("~"):
        target = target[1:]
        words = target.rsplit(".", 1)[-1] if not explicit else words
    target = target.removesuffix("()")
    full = resolve(target)
    if not explicit and words.startswith("reftorch."):
        words = "torch." + words.removeprefix("reftorch.") if full and full.startswith("torch") else words
    call = "()" if role["role"] in ("func", "meth") and not explicit and not words.endswith(")") else ""
    return f":py:obj:`{words}{call} <{full}>`" if full else f"``{words}{call}``"
