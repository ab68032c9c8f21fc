"""`%course`: the learner's commands in a notebook cell, as `%course check 03`; `%torch_source`: where a symbol is;
`%%rebuild`: the library with some lines changed; `%%real_torch`: a cell that runs in PyTorch; `%%cpp`: a cell of C++.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: what is not yet saved; `check` runs the notebook as it lies on disk.
"""

from __future__ import annotations

import argparse
import shlex
from contextlib import suppress
from typing import Any

from course._tools import completion, cpp_cells, rebuilds, symbol_map
from course._tools import real_torch as torch_cells
from course._tools.cli import main
from course._tools.outcomes import TIMEOUT


def course(line: str) -> None:
    """Run `reftorch-course` with the words of `line`; its exit code is left to the terminal."""
    with suppress(SystemExit):  # argparse has said what was wrong
        main(shlex.split(line))


def torch_source(line: str) -> symbol_map.SymbolMap | None:
    """Show where a symbol is, here and in PyTorch: `%torch_source OperatorHandle::callBoxed`."""
    try:
        return symbol_map.torch_source(line)
    except LookupError as error:
        print(error.args[0])
        return None


def rebuild(line: str, cell: str) -> rebuilds.Comparison:
    """Run a program on the library as it is, and on the library with a few lines changed; show both outputs.

        %%rebuild cpp/csrc/autograd/saved_variable.cpp
        -  if (impl::version(data_) == saved_version_) {
        +  if (true) {

        import reftorch as torch
        ...

    The patch ends at the first empty line. `-` takes a line out, `+` puts a line in, and a space marks a line that only
    says where. A line `@@` parts two places; `@@ FILE` goes on in another file. The program starts with nothing of this
    notebook. Your files, your build and this kernel stay as they are.

    --timeout   seconds that the program may take (60)
    """
    words = shlex.split(line)
    timeout = TIMEOUT
    if "--timeout" in words:
        position = words.index("--timeout")
        timeout = float(words[position + 1])
        del words[position : position + 2]
    if len(words) != 1:
        raise _usage("Which file? %%rebuild cpp/csrc/autograd/saved_variable.cpp")
    return rebuilds.compare(words[0], cell, timeout=timeout)


def real_torch(line: str, cell: str) -> torch_cells.Answer:
    """Run the cell in PyTorch itself, in a process of its own; without torch, show what torch printed.

        %%real_torch
        import torch
        print(torch._C._dispatch_dump_table("aten::add.Tensor"))

    --beside        run the cell in reftorch too (`import torch` becomes `import reftorch as torch`), and show both
    --lines N       show the first N lines of the output
    --env A=B       set a variable of the environment, as TORCH_SHOW_CPP_STACKTRACES=1
    --gdb "A; B"    run torch under gdb with these commands, as "break at::_ops::add_Tensor::call; run; bt 4"
    --timeout S     seconds that the program may take (60)
    """
    parser = argparse.ArgumentParser(prog="%%real_torch", add_help=False, exit_on_error=False)
    parser.add_argument("--beside", action="store_true")
    parser.add_argument("--lines", type=int)
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("--gdb", default="")
    parser.add_argument("--timeout", type=float, default=TIMEOUT)
    try:
        asked, unknown = parser.parse_known_args(shlex.split(line))
        variables = dict(pair.split("=", 1) for pair in asked.env)
    except (argparse.ArgumentError, ValueError) as error:
        raise _usage(f"%%real_torch: {error}") from None
    if unknown:
        raise _usage(
            f"%%real_torch: {' '.join(unknown)} means nothing; there are --beside, --lines, --env, --gdb, --timeout"
        )
    return torch_cells.ask(
        cell,
        options=line,
        beside=asked.beside,
        lines=asked.lines,
        environment=variables,
        timeout=asked.timeout,
        gdb=[command.strip() for command in asked.gdb.split(";") if command.strip()],
    )


def cpp(line: str, cell: str) -> cpp_cells.Held | None:
    """Compile the cell as a C++ program of its own, run the program, and show what it prints.

        %%cpp
        #include <cstdio>
        int main() { std::puts("hello"); }

    The compiler is the one that built the library. The library's headers may be included.

    --hold   show nothing yet: the output waits for the prediction in the next cell
    """
    words = shlex.split(line)
    if words not in ([], ["--hold"]):
        raise _usage(f"%%cpp: {line} means nothing; there is --hold")
    outcome = cpp_cells.run_cpp(cell)
    cpp_cells.remember(outcome)
    if words:
        return cpp_cells.Held()
    print(outcome)
    return None


def _usage(text: str) -> Exception:
    from IPython.core.error import UsageError  # which takes long to import, and terminals need no magic

    return UsageError(text)


def load_ipython_extension(shell: Any) -> None:
    """Register the magics, for `%load_ext course._tools`."""
    completion.teach_jedi()
    shell.register_magic_function(course, magic_kind="line", magic_name="course")
    shell.register_magic_function(torch_source, magic_kind="line", magic_name="torch_source")
    shell.register_magic_function(rebuild, magic_kind="cell", magic_name="rebuild")
    shell.register_magic_function(real_torch, magic_kind="cell", magic_name="real_torch")
    shell.register_magic_function(cpp, magic_kind="cell", magic_name="cpp")
