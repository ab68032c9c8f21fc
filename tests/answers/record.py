"""The command that makes the file of torch's answers: ``make answers``, or ``python -m tests.answers.record TESTS...``.

Mirrors: nothing in PyTorch: it has no other library to be compared with.

The tests run twice. First torch answers, and what torch said is written down for each test that passes. Then reftorch
is asked in torch's place. A test that does not agree with the notes, although it passed beside the real torch, cannot
be held by notes: it shows a difference that is meant, or the library calls code of the test. Such a test is left out of
the file, and its name is printed. With names of tests or files, their answers alone are renewed; with
``--missing`` before them, answers are made for those that have none and no reason in ``left_out.txt``, and the others
are not run.
"""

from __future__ import annotations

import argparse
import datetime
import os
import pickle
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.answers import stored
from tests.answers.fingerprint import OTHER_WORDS, Answers

SEED = "0"  # of Python's hashes, and so of the order in sets; the tests draw their inputs from seeds of their own


class Outcomes:
    """The names of the tests that passed, and of those that did not."""

    def __init__(self) -> None:
        self.passed: set[str] = set()
        self.failed: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed[report.nodeid] = str(report.longrepr)
        elif report.passed and report.when == "call":
            self.passed.add(report.nodeid)


def run(tests: list[str], more: list[str], **environment: str) -> Outcomes:
    os.environ.update(environment, PYTHONHASHSEED=SEED)
    outcomes = Outcomes()
    quiet = ["-q", "--no-header", "--tb=short", "--show-capture=no", "-r", "N", "-p", "no:cacheprovider"]
    pytest.main([*quiet, *more, *tests], plugins=[outcomes])
    for name in environment:
        del os.environ[name]
    return outcomes


def _read_all(part: Path) -> Iterator[tuple[str, Answers]]:
    """What one process wrote down: a pair for each test, one after the other."""
    with part.open("rb") as file:
        while True:
            try:
                yield pickle.load(file)
            except EOFError:
                return


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.answers.record", description="Write down torch's answers.")
    parser.add_argument("tests", nargs="*", help="renew the answers of these tests or files alone")
    parser.add_argument("--jobs", default="2", help="processes")
    parser.add_argument("--failures", type=Path, help="where to write what the tests that are left out have said")
    parser.add_argument("--missing", action="store_true", help="of these tests, those alone that have no answers yet")
    options = parser.parse_args()
    if options.missing and not options.tests:
        parser.error("--missing needs the names of tests or files")
    import torch

    # Programs of their own, whose tests compare nothing with torch, and take long.
    apart = ["debug", "course", "cpp", "ci", "vscode", "bench", "cuda"]
    everything = ["tests", *(f"--ignore=tests/{name}" for name in apart)]
    # A test whose process ends, by a crash of the library, counts as failed; the other tests go on in a new process.
    apace = ["-n", options.jobs, "--dist", "loadfile", "--max-worker-restart", "1000"]
    more = apace if options.jobs != "0" else ["-n", "0"]
    which = {"REFTORCH_MISSING_ANSWERS": "1"} if options.missing else {}
    with tempfile.TemporaryDirectory() as folder:
        first = run(options.tests or everything, more, REFTORCH_RECORD_ANSWERS=folder, **which)
        answers: dict[str, Answers] = {}
        for part in sorted(Path(folder).iterdir()):
            answers.update(_read_all(part))
        answers = {name: answer for name, answer in answers.items() if name in first.passed}
        origin = {
            "what": "answers in reftorch's tests, see tests/answers/__init__.py",
            "by": f"torch {torch.__version__}",
            "command": "make answers, which is python -m tests.answers.record",
            "seed": f"PYTHONHASHSEED={SEED}; inputs are drawn by the tests",
        }
        tried = Path(folder, "tried.xz")
        stored.write(answers, origin, tried)
        second = run(options.tests or everything, more, REFTORCH_ANSWERS=str(tried), REFTORCH_COMPARE="0", **which)
    # Tests whose errors have torch's types and other words compare types alone: the difference is found last of all.
    for name, text in list(second.failed.items()):
        if name in answers and OTHER_WORDS in text:
            answers[name] = answers[name].without_messages()
            second.passed.add(name)
            del second.failed[name]
    left_out = {name: second.failed[name] for name in answers if name in second.failed}
    left_out.update({name: first.failed[name] for name in first.failed})
    kept = {name: a for name, a in answers.items() if name in second.passed and name not in second.failed}
    renewed = answers.keys() | first.failed.keys()
    old = {n: a for n, a in stored.read()[0].items() if options.tests and n not in renewed}
    every = {**old, **kept}
    origin["last run"] = f"{datetime.date.today()}: {len(kept)} of {len(every)} tests"
    stored.write(every, origin)
    for name in sorted(left_out):
        print(f"left out: {name}")
    if options.failures:
        options.failures.write_text("\n\n".join(f"##### {n}\n{t}" for n, t in sorted(left_out.items())))
    print(f"{len(kept)} tests have torch's answers, {len(left_out)} are left out: {stored.FILE}, ", end="")
    print(f"{stored.FILE.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
