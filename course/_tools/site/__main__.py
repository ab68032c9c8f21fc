"""`python -m course._tools.site build/docs`: writes the site; `--prepared` keeps what Sphinx reads, for a look at it.

Mirrors: docs/Makefile
Leaves out: installing Sphinx, which `make docs` does.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from course._tools.layout import CourseError
from course._tools.site import make_docs, prepare_docs


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m course._tools.site", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("build/docs"))
    parser.add_argument("--prepared", action="store_true", help="write what Sphinx reads, and stop")
    arguments = parser.parse_args()
    try:
        if arguments.prepared:
            prepare_docs(arguments.folder.resolve())
            return 0
        print(f"open {make_docs(arguments.folder.resolve())}")
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
