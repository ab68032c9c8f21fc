"""Run the text of a cell as a program: what `%%rebuild` and `%%real_torch` start in a process of its own.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: everything of the course and of reftorch: the process imports what its cell imports, and nothing else.

    python run_cell.py CELL REPORT

The value of the cell's last line is printed, as a notebook does. An error goes to the file REPORT as `Type: message`.
"""

import ast
import linecache
import sys


def main(cell: str, report: str) -> int:
    """Run the file `cell`; returns the exit code."""
    with open(cell) as file:
        source = file.read()
    sys.path.pop(0)  # the folder of this file
    sys.argv = ["cell"]
    names = {"__name__": "__main__", "__file__": cell}
    sys.modules["__main__"].__dict__.update(names)
    names = sys.modules["__main__"].__dict__
    linecache.cache["<cell>"] = (len(source), None, source.splitlines(keepends=True), "<cell>")
    try:
        tree = ast.parse(source, "<cell>")
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<cell>", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
            if value is not None:
                print(repr(value))
    except Exception as error:
        sys.stdout.flush()
        sys.stderr.flush()
        with open(report, "w") as file:
            file.write(f"{type(error).__name__}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
