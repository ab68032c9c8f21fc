"""Put libraries with torch's API beside each other, on the same machine in the same minutes.

Mirrors: torch/utils/benchmark/utils/compare.py
Left out: storing and plotting of results.

    python tests/bench/bench.py --libs torch,reftorch --suites ops,kernels,train,data,fx --threads 1
    python tests/bench/bench.py --cases 'chain_*' --json out.json
    python tests/bench/bench.py --libs reftorch=../before,reftorch   # another checkout, built
    python tests/bench/bench.py --list

Every library runs in a process of its own, and samples are taken in turn (A B, B A, ...), so that the noise of the
machine falls on all alike. The ratio is the median over rounds of t / t(first library) within the same round.
"""

import argparse
import fnmatch
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import cases_data  # noqa: F401
import cases_fx  # noqa: F401
import cases_kernels  # noqa: F401
import cases_ops  # noqa: F401
import cases_train  # noqa: F401
from cases import CASES

HERE = Path(__file__).resolve().parent
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
# Where the first two are set, OpenBLAS runs kernels of an older CPU, at half the speed of a user's machine. Where the
# third is set, `import` compiles every file of a source tree anew, but no file of an installed package.
UNSET_VARIABLES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE")


@dataclass
class Result:
    """The samples of one case in one library, or the error that kept it from running."""

    samples: list[float] = field(default_factory=list)
    error: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.samples)


def user_environment() -> dict[str, str]:
    """The environment without the variables that change what is measured."""
    return {name: value for name, value in os.environ.items() if name not in UNSET_VARIABLES}


class Worker:
    """A library in its own process. ``name=folder`` imports the library from that folder."""

    def __init__(self, library: str, threads: int) -> None:
        self.library = library
        environment = user_environment() | dict.fromkeys(THREAD_VARIABLES, str(threads))
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "worker.py"), library, "--threads", str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        self.hello = self._read()

    def _read(self) -> dict:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"ok": False, "error": f"the process of {self.library} died"}

    def ask(self, **command: object) -> dict:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return {"ok": False, "error": f"the process of {self.library} died"}
        return self._read()

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(60)


def chosen_cases(suites: list[str], patterns: list[str]) -> list[str]:
    return [
        name
        for suite in suites
        for name, case in CASES.items()
        if case.suite == suite and any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
    ]


def measure(
    workers: list[Worker], names: list[str], rounds: int = 15, seconds: float = 0.02, limit: float = 6.0
) -> Iterator[tuple[str, dict[str, Result]]]:
    """For each case the results by library. A case runs ``rounds`` times, or 3 times and until ``limit`` seconds."""
    for name in names:
        results: dict[str, Result] = {}
        took: dict[str, float] = {}
        for worker in workers:
            answer = worker.ask(do="prepare", case=name, seconds=seconds)
            results[worker.library] = Result(error=answer.get("error", ""))
            took[worker.library] = answer.get("took", 0.0)
        running = [worker for worker in workers if not results[worker.library].error]
        for turn in range(rounds):
            if turn >= 3 and turn * max(took.values()) > limit:
                break
            for worker in running if turn % 2 == 0 else running[::-1]:
                answer = worker.ask(do="sample")
                if answer["ok"]:
                    results[worker.library].samples.append(answer["time"])
                else:
                    results[worker.library].error = answer["error"]
        yield name, results


def ratio(result: Result, base: Result) -> float | None:
    """The median of the paired ratios; None where one of the two did not run."""
    pairs = list(zip(result.samples, base.samples, strict=False))
    return statistics.median(a / b for a, b in pairs) if pairs and not result.error and not base.error else None


def readable(seconds: float) -> str:
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


@contextmanager
def started(libraries: list[str], threads: int) -> Iterator[list[Worker]]:
    """A worker for each library that can be imported; the others are named on stderr."""
    workers = [Worker(library, threads) for library in libraries]
    for worker in workers:
        if not worker.hello["ok"]:
            print(f"{worker.library}: {worker.hello['error']}", file=sys.stderr)
    try:
        yield [worker for worker in workers if worker.hello["ok"]]
    finally:
        for worker in workers:
            worker.close()


def print_row(name: str, results: dict[str, Result], base: str) -> None:
    row = f"{name:26}"
    for library, result in results.items():
        row += f"{readable(result.median) if result.samples else '-':>12}"
        if library != base:
            against = ratio(result, results[base]) if base in results else None
            row += f"{against:8.2f}" if against is not None else f"{'-':>8}"
    errors = "; ".join(f"{library}: {result.error}" for library, result in results.items() if result.error)
    print(row + (f"   {errors[:100]}" if errors else ""), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--libs", default="torch,reftorch")
    parser.add_argument("--suites", default="ops,kernels,train,data,fx")
    parser.add_argument("--cases", default="*", help="comma-separated patterns")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.02, help="the least length of a sample")
    parser.add_argument("--json", type=Path, help="write every sample to this file")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    options = parser.parse_args()
    names = chosen_cases(options.suites.split(","), options.cases.split(","))
    if options.list:
        print("\n".join(f"{CASES[name].suite:8} {name}" for name in names))
        return
    record = []
    for threads in map(int, options.threads.split(",")):
        with started(options.libs.split(","), threads) as workers:
            titles = [f"{worker.library} {worker.hello['version']}" for worker in workers]
            print(f"\nthreads: {threads}; {', '.join(titles)}")
            for name, results in measure(workers, names, options.rounds, options.seconds):
                print_row(name, results, options.libs.split(",")[0])
                for library, result in results.items():
                    row = {"case": name, "library": library, "threads": threads}
                    record.append(row | {"samples": result.samples, "error": result.error})
    if options.json:
        options.json.write_text(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
