"""Run a program that says ``import torch`` on reftorch.

    python -m reftorch script.py ARG ...     a file, or a folder or zip file with a __main__.py
    python -m reftorch -m package.module ARG ...
    python -m reftorch -c "import torch; print(torch.ones(2))" ARG ...
    python -m reftorch - ARG ...             the program on the standard input; without arguments, too

``torch`` means reftorch in this process and in those that it starts by ``multiprocessing``, and nowhere else: the
environment stays as it is, and PyTorch may be installed in it or not. Apart from that name, a program finds what
``python`` would give it: ``__main__``, ``sys.argv``, ``sys.path``, tracebacks and the exit code.

Mirrors: nothing in PyTorch: a program that says ``import torch`` already means PyTorch.
"""

from __future__ import annotations

import code
import importlib.machinery
import io
import os
import pkgutil
import runpy
import sys
import types
from typing import Any, NoReturn

from reftorch import _as_torch

USAGE = "usage: python -m reftorch (script.py | -m module | -c code | -) [ARG ...]"


def main() -> None:
    """Run the program that the command line names, as ``python`` runs it."""
    kind, target, arguments = _parse(sys.argv[1:])
    _as_torch.install()
    sys.modules["__main__"] = program = types.ModuleType("__main__")
    vars(program).update(__annotations__={}, __builtins__=__builtins__)
    sys.argv = [target if kind in ("script", "-") else kind, *arguments]
    try:
        if kind == "-m":
            _set_first_path(os.getcwd())
            if target.startswith("torch."):  # a program of the library: runpy asks for its own loader, not an alias
                target = f"reftorch.{target.removeprefix('torch.')}"
            # runpy prints in one line that there is no such module, and puts the module's file into sys.argv.
            runpy._run_module_as_main(target, True)  # type: ignore[attr-defined]
        elif kind == "script":
            _run_file(target, program)
        else:
            _set_first_path("")
            if kind == "-":
                vars(program).update(__file__="<stdin>", __cached__=None)
            program.__loader__ = importlib.machinery.BuiltinImporter
            if kind == "-" and not target and sys.stdin.isatty():
                code.interact(local=vars(program), exitmsg="")
            else:
                text: Any = target if kind == "-c" else sys.stdin.buffer.read()
                exec(compile(text, "<string>" if kind == "-c" else "<stdin>", "exec", dont_inherit=True), vars(program))
    except SystemExit:
        raise
    except BaseException:
        _hide_our_frames()
        raise


def _parse(arguments: list[str]) -> tuple[str, str, list[str]]:
    """Return the kind of program (``script``, ``-m``, ``-c`` or ``-``), its name or text, and its own arguments."""
    first = arguments[0] if arguments else ""
    if not arguments:
        return "-", "", []
    if first == "-":
        return "-", "-", arguments[1:]
    if first == "--":
        return ("script", arguments[1], arguments[2:]) if arguments[1:] else ("-", "", [])
    if first in ("-h", "--help"):
        print(f"{USAGE}\n\nRun a program that says `import torch` on reftorch, as python runs it.")
        raise SystemExit(0)
    if first[:2] in ("-m", "-c"):
        attached = [first[2:]] if first[2:] else []
        rest = [*attached, *arguments[1:]]
        if not rest:
            _refuse(f"{USAGE}\npython -m reftorch: error: argument expected for the {first} option", 2)
        return first[:2], rest[0], rest[1:]
    if first.startswith("-"):
        hint = "options of python come before -m: python -u -m reftorch script.py"
        _refuse(f"{USAGE}\npython -m reftorch: error: unknown option {first}. Hint: {hint}", 2)
    return "script", first, arguments[1:]


def _run_file(path: str, program: types.ModuleType) -> None:
    """Run a file, or the ``__main__.py`` of a folder or zip file."""
    full = os.path.join(os.getcwd(), path)
    importer = pkgutil.get_importer(full)
    if importer is not None and importer.find_spec("__main__") is not None:  # a folder or a zip file
        sys.path[:1] = [full, *sys.path[:1]] if getattr(sys.flags, "safe_path", False) else [full]
        runpy._run_module_as_main("__main__", False)  # type: ignore[attr-defined]
        return
    if os.path.isdir(full):
        _refuse(f"{sys.executable}: can't find '__main__' module in {full!r}", 1)
    try:
        with io.open_code(full) as file:
            source = file.read()
    except OSError as error:
        _refuse(f"{sys.executable}: can't open file {full!r}: [Errno {error.errno}] {error.strerror}", 2)
    _set_first_path(os.path.dirname(os.path.realpath(full)))
    program.__file__ = full
    vars(program)["__cached__"] = None
    if full.endswith(".pyc"):
        compiled: Any = pkgutil.read_code(io.BytesIO(source))
        program.__loader__ = importlib.machinery.SourcelessFileLoader("__main__", full)
    else:
        program.__loader__ = importlib.machinery.SourceFileLoader("__main__", full)
        compiled = compile(source, full, "exec", dont_inherit=True)
    exec(compiled, vars(program))


def _set_first_path(folder: str) -> None:
    """Let imports look into a folder first, in place of that in which ``python -m`` found reftorch."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder


def _refuse(message: str, status: int) -> NoReturn:
    print(message, file=sys.stderr)
    raise SystemExit(status)


def _hide_our_frames() -> None:
    """Let the traceback that Python will print begin in the program."""
    hook = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: types.TracebackType | None) -> None:
        last, place = trace, trace
        while place is not None:
            if place.tb_frame.f_code.co_filename == __file__:
                last = place.tb_next
            place = place.tb_next
        error.__traceback__ = last
        hook(kind, error, last)

    sys.excepthook = show


if __name__ == "__main__":
    main()
