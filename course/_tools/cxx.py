"""Find a definition in C++ text by its name, without a compiler.

Mirrors: nothing in PyTorch: the course shows source by name, so that prose quotes no line numbers.
Leaves out: macros that hide braces, and definitions that only a preprocessor branch brings about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# What is blanked before a search: comments, raw strings, strings, characters (but no digit separator, as in 1'000).
OPAQUE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.S
)

# What may be between a function's arguments and its body: const, noexcept, a trailing return type, initialisers.
BEFORE_BODY = re.compile(r"[\s\w:&<>,*\[\]-]*(?:\([^{};]*\)[\s\w:&<>,*]*|\{[^{};]*\}\s*,?\s*)*\{")


def definitions(text: str, name: str) -> list[tuple[int, int]]:
    """First and last line, counted from 1, of each definition of `name`: a function, a class, an enum or a macro block.

    `name` may be qualified as the source writes it: `Dispatcher::call`.
    """
    mask = OPAQUE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    spans = list(_types(mask, name)) or list(_functions(mask, name))  # a class is not its constructors
    return sorted((_first_line(text, mask, start), mask.count("\n", 0, end) + 1) for start, end in spans)


def _types(mask: str, name: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(rf"\b(?:class|struct|enum|union)\s+(?:\w+\s+)*{re.escape(name)}\b[^;{{}}()]*\{{", mask):
        yield match.start(), _closing(mask, match.end() - 1)


def _functions(mask: str, name: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(rf"(?<![\w.>]){re.escape(name)}\s*\(", mask):
        after_arguments = _closing(mask, match.end() - 1) + 1
        body = BEFORE_BODY.match(mask, after_arguments)
        if body is not None and not _is_statement(mask, match.start()):
            yield match.start(), _closing(mask, body.end() - 1)


def _is_statement(mask: str, position: int) -> bool:
    """Return whether the text before `position` on its line makes the name a call: `return f(`, `x = f(`, `(f(`."""
    line = mask[mask.rfind("\n", 0, position) + 1 : position]
    while (without := re.sub(r"<[^<>]*>", "", line)) != line:  # the commas of a type such as std::tuple<int, int>
        line = without
    return re.search(r"\b(?:return|if|while|else|throw)\b|[=(!?,]", line) is not None


def _closing(mask: str, opening: int) -> int:
    pairs = {"(": ")", "{": "}"}
    sign, counter, depth = mask[opening], pairs[mask[opening]], 0
    for position in range(opening, len(mask)):
        depth += (mask[position] == sign) - (mask[position] == counter)
        if depth == 0:
            return position
    raise ValueError(f"no {counter!r} closes the {sign!r} of line {mask.count(chr(10), 0, opening) + 1}")


def _first_line(text: str, mask: str, position: int) -> int:
    """The line a declaration starts on, with its template line, its return type and the comment right above it."""
    lines, masked = text.splitlines(), mask.splitlines()
    number = mask.count("\n", 0, position)
    while number > 0:
        above, above_masked = lines[number - 1].strip(), masked[number - 1].strip()
        is_comment = bool(above) and not above_masked
        ends_something = above_masked.endswith((";", "{", "}", ":")) or above_masked.startswith("#")
        is_macro_call = re.fullmatch(r"[A-Z][A-Z0-9_]*\(.*\)", above_masked)
        if not is_comment and (not above_masked or ends_something or is_macro_call):
            break
        number -= 1
    return number + 1
