"""Which files of PyTorch 2.13 exist: the list that every path of PyTorch's we name or link to is checked against.

Mirrors: nothing in PyTorch: it has its files.

A wheel of PyTorch shows most of them. Its Python files and headers are in it, `torchgen` brings the tables and
templates that its code generator reads, and its libraries hold the names of their C++ sources, because each
`TORCH_CHECK` says where it is. `pytorch_paths.txt` keeps those that we name, so that the check needs no PyTorch.
What a CPU wheel cannot show, such as CUDA's kernels, is in a second part of that file. Each path there was looked
up by hand in an index of PyTorch's repository, which holds the files of its whole history. A look-up shows that PyTorch
has or had such a file, and not that 2.13 has it.

    python -m course._tools.site.pytorch_paths      writes the first part again, with the torch that is installed
"""

from __future__ import annotations

import csv
import importlib.util
import mmap
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
LIST = Path(__file__).with_name("pytorch_paths.txt")
BY_HAND = "# Not in a CPU wheel: looked up by hand in PyTorch's history, and so not known for 2.13 itself."
PATH = re.compile(
    r"\b(?:aten/src|c10|torch|torchgen|tools|functorch)/[\w/.]*\w\.(?:cpp|cuh?|h|pyi?(?:\.in)?|yaml|in)\b"
)
SOURCE = re.compile(rb"\b(?:aten/src|c10|torch/csrc)/[\w/.-]+\.(?:cpp|h)\b")


def named_paths() -> set[str]:
    """The paths of PyTorch's files that headers, the table of names and the lessons give."""
    found: set[str] = set()
    for folder in ("cpp", "reftorch", "course/_tools"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".h", ".cpp", ".cu", ".cuh"):
                for line in path.read_text().splitlines():
                    if line.startswith(("Mirrors: ", "// Mirrors: ")):
                        found.update(PATH.findall(line))
    with (ROOT / "reftorch" / "_api" / "names.csv").open(newline="") as table:
        found.update(row["file"] for row in csv.DictReader(table) if row["file"])
    return found


def paths_in_wheel(wheel: Path) -> set[str]:
    """The repository's paths that an installed wheel shows; `wheel` is the folder that holds `torch`."""
    python = [path.relative_to(wheel) for name in ("torch", "torchgen") for path in (wheel / name).rglob("*.py*")]
    found = {path.as_posix() for path in python} | {path.parent.as_posix() for path in python}
    include = wheel / "torch" / "include"
    for kind in ("*.h", "*.cuh"):
        for path in include.rglob(kind):
            name = path.relative_to(include).as_posix()
            found.update((name, f"aten/src/{name}"))
    packaged = wheel / "torchgen" / "packaged"  # laid out as in aten/src
    found.update(f"aten/src/{path.relative_to(packaged).as_posix()}" for path in packaged.glob("ATen/**/*.*"))
    for library in (wheel / "torch" / "lib").glob("*.so"):
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            found.update(name.decode() for name in set(SOURCE.findall(content)))
    return found


def listed_paths() -> tuple[set[str], set[str]]:
    """The two parts of the list: what a wheel shows, and what was looked up by hand."""
    shown, by_hand = LIST.read_text().split(BY_HAND)
    return (
        {line for line in shown.splitlines() if line and not line.startswith("#")},
        {line for line in by_hand.splitlines() if line},
    )


def wheel_here() -> Path:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise SystemExit("the list is made from an installed PyTorch: pip install torch==2.13.0")
    return Path(spec.origin).parents[1]


def main() -> None:
    shown = sorted(named_paths() & paths_in_wheel(wheel_here()))
    by_hand = sorted(listed_paths()[1] & named_paths() - set(shown))
    head = (
        "# Files of PyTorch 2.13 that we name, as its CPU wheel shows them: python -m course._tools.site.pytorch_paths"
    )
    LIST.write_text("\n".join([head, *shown, "", BY_HAND, *by_hand, ""]))
    missing = sorted(named_paths() - set(shown) - set(by_hand))
    if missing:
        print("\n".join(["named, but in neither part of the list; correct the name or look it up:", *missing]))


if __name__ == "__main__":
    main()
