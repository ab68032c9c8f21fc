"""Runs a program of Python as `python` does, and ends without a traceback if the user presses ^C.

Mirrors: nothing in PyTorch: there, ^C in a tool shows a traceback.
Left out: the options of `python` itself.

    python .ci/interruptible.py script.py ARG ...
    python .ci/interruptible.py -m module ARG ...

The program is interrupted by a KeyboardInterrupt, so that it still removes its temporary files.
"""

import os
import runpy
import sys


def main() -> None:
    is_module = sys.argv[1] == "-m"
    sys.argv = sys.argv[2:] if is_module else sys.argv[1:]
    if not sys.flags.isolated:  # with `python -I`, the first place is another one
        sys.path[0] = os.getcwd() if is_module else os.path.dirname(os.path.abspath(sys.argv[0]))
    if is_module:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("\nreftorch: interrupted. Run the same command again to continue.", flush=True)
        os._exit(130)  # the exit handlers of a library could be interrupted, too, or wait for threads
