"""Run a program that says ``import torch`` on reftorch.

    python -m reftorch script.py ARG ...     a file, or a folder or zip file with a __main__.py
    python -m reftorch -m package.module ARG ...
    python -m reftorch -c "import torch; print(torch.ones(2))" ARG ...

``torch`` means reftorch in this process and in those that it starts by ``multiprocessing``, and nowhere else: the
environment stays as it is, and PyTorch may be installed in it or not.

Mirrors: nothing in PyTorch: a program that says ``import torch`` already means PyTorch.
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import types

from reftorch import _as_torch


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m reftorch",
        description="Run a program that says `import torch` on reftorch.",
        usage="python -m reftorch (script.py | -m module | -c code) [ARG ...]",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("-m", dest="module", nargs=argparse.REMAINDER, help="run a module, as python -m does")
    what.add_argument("-c", dest="code", nargs=argparse.REMAINDER, help="run code, as python -c does")
    parser.add_argument("script", nargs="?", help="the file to run")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="arguments of the program")
    options = parser.parse_args()
    chosen = options.module if options.module is not None else options.code
    if chosen == [] or (chosen is None and options.script is None):
        parser.error("name a program: script.py, -m module or -c code")

    _as_torch.install()
    if options.module is not None:
        sys.argv = options.module
        sys.path[0] = os.getcwd()
        runpy.run_module(options.module[0], run_name="__main__", alter_sys=True)
    elif options.code is not None:
        sys.argv = ["-c", *options.code[1:]]
        sys.path[0] = ""
        sys.modules["__main__"] = program = types.ModuleType("__main__")
        exec(compile(options.code[0], "<string>", "exec"), program.__dict__)
    else:
        sys.argv = [options.script, *options.args]
        if not os.path.isdir(options.script):
            sys.path[0] = os.path.dirname(os.path.abspath(options.script))
        runpy.run_path(options.script, run_name="__main__")


if __name__ == "__main__":
    main()
