"""Checks that each C++ file which the Debug build compiles together with others also compiles alone.

The Debug build compiles several files in one run (a unity build), so a file may use what another file of its batch
includes, and the mistake is found only when someone makes a Release build. This program runs the compiler on each of
these files with the flags of its batch and ``-fsyntax-only``.

    python .ci/compile_alone.py [--jobs N] [FLOOR ...]

A floor is a target of cpp/CMakeLists.txt, such as reftorch_native; without names, all floors are checked. The batches
are read from build/Debug/compile_commands.json, so the Debug build must exist. What a precompiled header includes is
not missed: only a Release build finds that.

Mirrors: nothing in PyTorch, which compiles each file alone in all builds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def commands(tree: Path, floors: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each file of the batches of a build tree, with the command that checks it."""
    for entry in json.loads((tree / "compile_commands.json").read_text()):
        batch = Path(entry["file"])
        floor = re.search(r"CMakeFiles/(\w+)\.dir/Unity", str(batch))
        if floor is None or (floors and floor[1] not in floors):
            continue
        words = shlex.split(entry["command"])
        words = words[: words.index("-o")]  # then follow the object file, -c and the batch
        for source in re.findall(r'^#include "(.+)"$', batch.read_text(), re.M):
            yield source, [*words, "-fsyntax-only", "-x", "c++", source]  # also where the name ends in .cu


def check(tree: Path, floors: list[str], jobs: int) -> list[str]:
    """Return the messages of the compiler about the files that do not compile alone.

    Raises:
        ValueError: the build tree has no batches in these floors.
    """
    found = list(commands(tree, floors))
    if not found:
        raise ValueError(f"{tree} compiles no files together in {', '.join(floors) or 'any floor'}. Run: make debug")

    def run(command: list[str]) -> str:
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
        return done.stderr if done.returncode != 0 else ""

    with ThreadPoolExecutor(jobs) as pool:
        messages = pool.map(run, [command for _, command in found])
        return [
            f"{source} does not compile alone:\n{said}"
            for (source, _), said in zip(found, messages, strict=True)
            if said
        ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("floors", nargs="*", metavar="FLOOR", help="a target of cpp/CMakeLists.txt")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="so many compilers run at once")
    args = parser.parse_args()
    problems = check(ROOT / "build" / "Debug", args.floors, args.jobs)
    for problem in problems:
        print(problem)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
