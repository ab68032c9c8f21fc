"""The process that measures one library: it reads commands as lines of JSON and answers in kind.

Mirrors: torch/utils/benchmark/utils/timer.py
Left out: the C++ timer and callgrind.

One process a library: two OpenMP runtimes or BLAS thread pools in one process would fight.
"""

import argparse
import importlib.machinery
import json
import os
import sys
import timeit

import cases_data  # noqa: F401
import cases_fx  # noqa: F401
import cases_kernels  # noqa: F401
import cases_ops  # noqa: F401
import cases_train  # noqa: F401
from cases import CASES, Library


def calibrated(timer: timeit.Timer, seconds: float) -> tuple[int, float]:
    """How often to run for a sample of at least ``seconds``, and how long that took."""
    timer.timeit(2)  # caches and allocators warm
    number, took = 1, min(timer.timeit(1) for _ in range(3))
    while took < seconds and number < 10_000_000:
        wanted = number * seconds / max(took, 1e-9)
        number = int(max(number * 1.5 + 1, min(number * 20, wanted)))
        took = timer.timeit(number)
    return number, took


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()

    name, _, folder = options.library.partition("=")
    if folder:  # before the finder of the library that is installed in place
        sys.path.insert(0, folder)
        sys.meta_path.insert(0, importlib.machinery.PathFinder)

    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints must not break the protocol

    def answer(**said: object) -> None:
        answers.write(json.dumps(said) + "\n")

    try:
        library = Library(name, options.threads)
    except Exception as error:
        answer(ok=False, error=f"{type(error).__name__}: {error}")
        return
    answer(ok=True, version=library.version)
    timer, number, per = timeit.Timer("pass"), 1, 1
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "prepare":
            case = CASES[command["case"]]
            try:
                made = case.make(library)
                timer = timeit.Timer(made[0], globals=made[1]) if isinstance(made, tuple) else timeit.Timer(made)
                per = case.per
                number, took = calibrated(timer, command["seconds"])
                answer(ok=True, took=took)
            except Exception as error:  # a library may lack any op; the table says so
                answer(ok=False, error=f"{type(error).__name__}: {error}"[:300])
        elif command["do"] == "sample":
            answer(ok=True, time=timer.timeit(number) / number / per)


if __name__ == "__main__":
    main()
