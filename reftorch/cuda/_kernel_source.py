"""Reads and rewrites the text of CUDA C++: its kernels, and the notations that an ordinary compiler does not know.

Mirrors: nothing in PyTorch, which leaves the text to NVIDIA's compilers.
Leaves out: a parser of C++. Preprocessor conditions are not evaluated, and a kernel whose declaration comes from a
macro is not found. PTX in ``asm()`` cannot be run on a simulated device.

For simulated devices, two notations change within their line, so that every line keeps its number; the header
cpp/c10/cuda/sim/kernel_source.h has what they become.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TOKENS = re.compile(
    r"""
    (?P<ignored> //(?:\\.|[^\n\\])* | /\*.*?\*/ | R"(?P<end>[^\s()\\]*)\(.*?\)(?P=end)" | "(?:[^"\\\n]|\\.)*" |
        '(?:[^'\\\n]|\\.)*' )
    | (?P<shared> \b(?:extern\s+__shared__|__shared__\s+extern)\b (?P<type>[^;{}=]*?)
        (?P<name>\b\w+)\s*\[\s*\](?P<rest>(?:\s*\[[^][;]*\])*)\s*; )
    | (?P<begin> <<< ) | (?P<close> >>> ) | (?P<noinline> \b__noinline__\b ) | (?P<bracket> [()\[\]{}] )
    """,
    re.VERBOSE | re.DOTALL,
)
SCOPE = re.compile(r'\b(?:namespace|extern\s*"C"|struct|class|union)\b[^;{}()]*$')  # text before the { of no function


@dataclass(frozen=True)
class KernelDeclaration:
    """A kernel in a text: its name, the names of its parameters, and whether it is a template."""

    name: str
    parameters: tuple[str, ...]
    is_template: bool


def as_cpp(source: str) -> str:
    """Return CUDA C++ as C++ that means the same on a simulated device; each line keeps its number.

    ``k<<<grid, block>>>(x)`` becomes an expression, and ``extern __shared__ float s[];`` a pointer.

    >>> as_cpp("add<<<2, 32>>>(x, n);")
    'add->*cudasim::configuration(2, 32)(x, n);'
    >>> as_cpp("__global__ void k() { extern __shared__ float s[]; }")
    '__global__ void k() { float* const s = cudasim::DynamicShared(); }'
    """
    written: list[str] = []
    launches: list[int] = []  # how many brackets were open at each <<< that is not closed yet
    functions: list[bool] = []  # for each open bracket: whether it is inside of a function
    done = 0
    for token in TOKENS.finditer(source):
        text = token.group()
        written.append(source[done : token.start()])
        done = token.end()
        if token["shared"]:
            text = shared_array(token, in_function=bool(functions) and functions[-1])
        elif token["begin"]:
            launches.append(len(functions))
            text = "->*cudasim::configuration("
        elif token["close"] and launches and launches[-1] == len(functions):
            launches.pop()
            text = ")"
        elif token["noinline"]:
            text = "__attribute__((noinline))"
        elif token["bracket"]:
            if text in "([{":
                inside = bool(functions) and functions[-1]
                functions.append(inside or (text == "{" and not SCOPE.search(source[: token.start()][-400:])))
            elif functions:
                functions.pop()
        written.append(text)
    return "".join([*written, source[done:]])


def shared_array(token: re.Match[str], in_function: bool) -> str:
    """Return the declaration that stands for an array of dynamic shared memory, with as many line breaks."""
    element, name, rest = " ".join(token["type"].split()), token["name"], token["rest"]
    if not in_function:
        element = re.sub(r"__align__\(.*?\)|alignas\(.*?\)", "", element).strip()
        text = f"static cudasim::DynamicSharedArray<{element}{rest}> {name};"
    elif rest:
        text = f"{element} (*const {name}){rest} = cudasim::DynamicShared();"
    else:
        text = f"{element}* const {name} = cudasim::DynamicShared();"
    return text + "\n" * (token.group().count("\n") - text.count("\n"))


def without_comments(source: str) -> str:
    """Return a text in which comments and strings are spaces."""
    return TOKENS.sub(lambda token: re.sub(r"[^\n]", " ", token.group()) if token["ignored"] else token.group(), source)


def kernels_of(source: str) -> list[KernelDeclaration]:
    """Return the kernels of a text, in its order.

    >>> kernels_of("template <typename T> __global__ void scale(T* x, float by) {}")
    [KernelDeclaration(name='scale', parameters=('x', 'by'), is_template=True)]
    """
    text = re.sub(r"__launch_bounds__\s*\([^)]*\)", " ", without_comments(source))
    found: dict[str, KernelDeclaration] = {}
    for match in re.finditer(r"__global__[\w\s]*?\b(\w+)\s*\(", text):
        before = re.split(r"[;{}]", text[: match.start()])[-1]
        parameters = tuple(map(name_of_parameter, split_list(text, match.end())))
        is_template = re.search(r"\btemplate\s*<", before) is not None
        found[match[1]] = KernelDeclaration(match[1], parameters, is_template)
    return list(found.values())


def unclosed_bracket(source: str) -> tuple[int, str]:
    """Return the line of the innermost bracket that the text never closes, and the bracket; (0, "") if there is none.

    >>> unclosed_bracket("void f() {\\n  if (1) {\\n}")
    (1, '{')
    """
    opened: list[tuple[int, str]] = []
    for token in TOKENS.finditer(source):
        bracket = token["bracket"]
        if bracket and bracket in "([{":
            opened.append((source.count("\n", 0, token.start()) + 1, bracket))
        elif bracket and opened:
            opened.pop()
    return opened[-1] if opened else (0, "")


def split_list(text: str, start: int) -> list[str]:
    """Return the elements of the list in parentheses whose first element begins at `start`."""
    elements, depth = [""], 1
    for letter in text[start:]:
        depth += (letter in "([{<") - (letter in ")]}>")
        if depth == 0:
            break
        if letter == "," and depth == 1:
            elements.append("")
        else:
            elements[-1] += letter
    return [element for element in map(str.strip, elements) if element not in ("", "void")]


def name_of_parameter(declaration: str) -> str:
    names = re.findall(r"[A-Za-z_]\w*", re.sub(r"=.*|\[.*?\]", "", declaration, flags=re.DOTALL))
    return names[-1] if names else declaration
