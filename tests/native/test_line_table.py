"""Mirrors: nothing in PyTorch: its kernels' bodies are arguments of macros, and a macro is one line for a debugger.

A breakpoint on a line of a kernel stops on this line, before the line has run.

A debugger can stop on a line only if the line table of the Debug build has an address for it; otherwise the breakpoint
moves to the next line that has one, which may be behind the work. This test reads the line table and the sources, and
finds each statement of each kernel in the table: see Note [A body is no argument of a macro] in ATen/Dispatch.h.
"""

import re
import subprocess
from pathlib import Path

import reftorch

ROOT = Path(__file__).resolve().parents[2]
DEBUG_BUILD = ROOT / "reftorch" / "lib" / "Debug"
NATIVE = ROOT / "cpp" / "ATen" / "native"
KERNELS = sorted([*NATIVE.glob("cpu/*.cpp"), *NATIVE.glob("cuda/*.cu"), *NATIVE.glob("*Functors.h")])

# What begins a line that makes no code of its own: declarations, and keywords whose code belongs to the next statement.
NO_CODE = re.compile(
    r"using |typedef |template|struct |class |enum |static_assert|static |constexpr |[}{]|public:|else\b|case .*:$"
    r"|default:|break;|continue;|return;|do \{|while \(true\)|if constexpr|[A-Z_0-9]+\(|__builtin_unreachable"
)
# A declaration of a variable without a value, or of a constant of a class without members.
NO_VALUE = re.compile(r"(const )?[\w:<>, *]+ \w+(\[[^\]]*\])*(, \w+(\[[^\]]*\])*)*;$")


def lines_with_code(library: Path) -> dict[str, set[int]]:
    """Return the lines at which a debugger can stop, for each file: {"cpp/ATen/...": {12, 13}}.

    readelf names a file in full before its rows, except the file that the compiler was called with, of which it gives
    the base name.
    """
    table: dict[str, set[int]] = {}
    base, in_full = "", ""  # of the file whose rows come, if it is one of ours; there are two million rows
    command = ["readelf", "--debug-dump=decodedline", str(library)]
    for row in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        if row.endswith(":"):
            path = Path(row[:-1].removeprefix("CU: "))
            known = path.is_absolute() and path.is_relative_to(ROOT)
            base, in_full = (path.name, str(path.relative_to(ROOT))) if known else ("", "")
        elif row.endswith(" x"):  # the start of a statement
            name, line, _ = row.split(None, 2)
            if line.isdigit():
                table.setdefault(in_full if name == base else name, set()).add(int(line))
    return table


def without_comments(text: str) -> list[str]:
    lines = []
    for line in text.split("\n"):
        line = re.sub(r'"(\\.|[^"\\])*"', '""', line)
        lines.append(re.sub(r"//.*", "", line).strip())
    return lines


def statements(lines: list[str]) -> list[tuple[int, str]]:
    """Return the number and the text of the first line of each statement in a function's body.

    A statement that breaks after `=` begins where its value begins. Lists of values in braces are left out, and so are
    loops behind a #pragma, because the compiler gives the head of such a loop the line of the pragma.
    """
    found = []
    is_body: list[bool] = []  # for each open brace
    head = ""  # the text since the last ; { or }
    start = 0
    after_pragma = False
    for number, line in enumerate(lines, 1):
        if line.startswith("#") or not line:
            after_pragma = after_pragma or line.startswith("#pragma omp")
            continue
        if not head:
            start = number
            begins_with_code = bool(is_body) and is_body[-1] and not NO_CODE.match(line) and not NO_VALUE.match(line)
            begins_with_code = begins_with_code and not line.endswith("= {")
            if begins_with_code and not after_pragma:
                found.append((number, line))
            after_pragma = False
        elif start and found and found[-1][0] == number - 1 and lines[number - 2].endswith("="):
            found[-1] = (number, line)
        for sign in line:
            head += sign
            if sign == "{":
                is_body.append(not re.search(r"\b(namespace|struct|class|enum|union)\b[^()]*$", head[:-1]))
            elif sign == "}" and is_body:
                is_body.pop()
        head = "" if line[-1] in ";{}:" else head + " "
    return found


def test_each_statement_of_each_kernel_has_an_address_to_stop_at():
    (library,) = DEBUG_BUILD.glob("_C.*.so")
    table = lines_with_code(library)
    moved = []
    total = 0
    for path in KERNELS:
        name = str(path.relative_to(ROOT))
        have = table.get(name, set()) | table.get(path.name, set())
        assert have, f"{name} has no code in {library}"
        for number, text in statements(without_comments(path.read_text())):
            total += 1
            if number not in have:
                moved.append(f"{name}:{number}: {text}")
    assert total > 3000
    assert not moved, "a breakpoint on these lines stops elsewhere:\n" + "\n".join(moved)


def test_the_reader_of_statements_sees_a_body_inside_a_macro():
    """A body that is the argument of a macro has statements, of which only the macro's line has an address."""
    text = """void relu_kernel(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES(iter.dtype(), "relu", [&] {
    using opmath_t = opmath_type<scalar_t>;
    const auto zero = opmath_t(0);
    cpu_kernel(iter, zero);
  });
}"""
    assert [number for number, _ in statements(without_comments(text))] == [4, 5]


def test_no_kernel_names_a_macro_that_takes_a_body():
    for path in KERNELS:
        assert "AT_DISPATCH" not in path.read_text(), path


def test_the_build_is_a_debug_build():
    assert (DEBUG_BUILD / Path(reftorch._C.__file__).name).exists()
