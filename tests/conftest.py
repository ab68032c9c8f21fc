"""What all tests share: torch to compare with where it is installed, and an honest account where it is not.

Mirrors: nothing in PyTorch: it has no other library to be compared with.

A test that needs the real torch asks for the fixture ``real_torch``. Where torch is missing, or is not wanted
(``REFTORCH_COMPARE=0``), torch's answers of an earlier run take its place, as ``tests/answers`` says. A test without
such answers is skipped and counted, and says its reason, which stands in ``tests/answers/left_out.txt``; the last lines
of the run say how many were and why. A test that can do without torch asks for ``real_torch_or_none`` and is counted
the same way, for its half.
"""

import gc
import importlib.util
import os
import pickle
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.answers import left_out, stored
from tests.answers.fingerprint import TOLERANCE, Answers, Log
from tests.answers.watched import watch

collect_ignore_glob = ["bench/*", "course/browser/*", "debug/fuzz_printers.py", "vscode/*"]  # other programs' parts

UNCHECKED = "not compared with torch"
RECORD = os.environ.get("REFTORCH_RECORD_ANSWERS")  # the folder where `make answers` wants the answers
if "REFTORCH_ANSWERS" in os.environ:  # `make answers` tries its file: no import finds torch
    sys.modules["torch"] = None  # type: ignore[assignment]


def pytest_collection_finish() -> None:
    """Take the tests themselves out of the garbage collector's sight.

    They are some millions of objects, which live until the end. A collection would look at each of them, for a second,
    and many tests collect garbage, some of them in a loop.
    """
    gc.collect()
    gc.freeze()


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Hand out the tests file by file, as ``--dist loadfile`` does, without its cost for each test.

    xdist's own scheduler counts all tests a worker has ever been given after each test, and looks through the list of
    all tests for each test it hands out. For the 38,000 tests of this folder that takes eleven seconds of a processor,
    where this scheduler takes a tenth of a second (measured with empty tests).
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduler(LoadFileScheduling):
        def add_node_collection(self, node, collection):
            super().add_node_collection(node, collection)
            self.places = {test: place for place, test in enumerate(collection)}

        def remove_node(self, node):
            """Leave out the test that ended its process: xdist's own scheduler would run it in each next process."""
            work = self.assigned_work.pop(node)
            under_way = next(((file, test) for file, tests in work.items() for test in tests), None)
            if under_way is None:
                return None
            file, crashed = under_way
            del work[file][crashed]
            self.workqueue.update({file: tests for file, tests in work.items() if tests})
            for other in self.assigned_work:
                self._reschedule(other)
            return crashed

        def _assign_work_unit(self, node):
            file, tests = self.workqueue.popitem(last=False)
            self.assigned_work[node][file] = tests
            node.send_runtest_some([self.places[test] for test in tests])

        def mark_test_complete(self, node, item_index, duration=0):
            test = self.collection[item_index]
            file = self._split_scope(test)
            del self.assigned_work[node][file][test]
            if not self.assigned_work[node][file]:
                del self.assigned_work[node][file]
            self._reschedule(node)

        def _pending_of(self, workload):
            return sum(map(len, workload.values()))

    return Scheduler(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`make answers` runs the tests that ask for torch, and no others."""
    if RECORD is None and "REFTORCH_ANSWERS" not in os.environ:
        return
    missing = "REFTORCH_MISSING_ANSWERS" in os.environ
    known = stored.read()[0] if missing else {}

    def asks(item: pytest.Item) -> bool:
        asks_for_torch = "real_torch_or_none" in getattr(item, "fixturenames", ())
        return asks_for_torch and not (missing and (item.nodeid in known or left_out.reason(item.nodeid)))

    config.hook.pytest_deselected(items=[item for item in items if not asks(item)])
    items[:] = filter(asks, items)


def _import_torch() -> ModuleType | None:
    if os.environ.get("REFTORCH_COMPARE") == "0":
        return None
    if importlib.util.find_spec("torch") is None:
        return None
    torch = importlib.import_module("torch")  # installed but broken is an error, not an absence
    torch.set_num_threads(1)
    gc.freeze()
    return torch


@pytest.fixture(autouse=True)
def _says_it_again() -> None:
    """Each test sees the warnings that come once in a program."""
    utils = sys.modules.get("reftorch._utils")
    if utils is not None:
        utils._warned.clear()


@pytest.fixture(scope="session")
def _torch() -> ModuleType | None:
    return _import_torch()


@pytest.fixture(scope="session")
def _answers() -> dict[str, Answers]:
    """Torch's answers of an earlier run."""
    return stored.read(stored.wanted())[0]


LOG = pytest.StashKey[Log]()
WANTED = pytest.StashKey[Answers]()


def is_sample(test: str) -> bool:
    """Whether a test's stored answers are compared with torch's where torch is: they are for a few."""
    return zlib.crc32(test.encode()) % 400 == 0


@pytest.fixture
def real_torch_or_none(_torch: ModuleType | None, _answers: dict[str, Answers], request: pytest.FixtureRequest) -> Any:
    """The real torch, or reftorch with torch's answers, or None; then the test is counted as not compared."""
    test = request.node.nodeid
    if RECORD is not None or (test in _answers and (_torch is None or is_sample(test))):
        request.node.stash[LOG] = log = Log()
        if RECORD is None:
            request.node.stash[WANTED] = _answers[test]
        library = _torch or importlib.import_module("reftorch")  # imported here: the floors need no build
        library.manual_seed(18)  # for tests that draw, and care for no seed
        return library if "noted" in request.fixturenames else watch(library, log)
    if _torch is None:
        request.node.user_properties.append((UNCHECKED, test))
    return _torch


@pytest.fixture
def not_compared(request: pytest.FixtureRequest) -> Callable[[], None]:
    """A function that counts the test as not compared with torch, for a test whose torch runs in another process."""
    return lambda: request.node.user_properties.append((UNCHECKED, request.node.nodeid))


@pytest.fixture
def noted(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """A function through which a test passes what ``real_torch`` answered: it returns the value, and notes it.

    A test that asks for this fixture is given the library itself as ``real_torch``, with no wall that takes notes. It
    notes plain values, such as the texts of two graphs that it compares.
    """

    def note(value: Any) -> Any:
        log = request.node.stash.get(LOG, None)
        if log is not None:
            log.answer("what is compared", value, TOLERANCE["float32"])
        return value

    return note


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """After the test itself: are the answers those of torch?"""
    result = yield
    log, wanted = pyfuncitem.stash.get(LOG, None), pyfuncitem.stash.get(WANTED, None)
    if log is not None and wanted is not None:
        difference = wanted.difference(log)
        assert difference is None, (
            f"{difference}\n(where the test has changed: make answers ARGS={pyfuncitem.nodeid!r})"
        )
    elif log is not None and log.checksums:
        assert RECORD is not None
        with Path(RECORD, f"{os.getpid()}.pickle").open("ab") as file:  # at once: a later test may end the process
            pickle.dump((pyfuncitem.nodeid, Answers.of(log)), file)
    return result


@pytest.fixture
def real_torch(real_torch_or_none: ModuleType | None, request: pytest.FixtureRequest) -> ModuleType:
    """The real torch; without it the test is skipped and counted as not compared."""
    if real_torch_or_none is None:
        pytest.skip(f"{UNCHECKED}: {left_out.reason(request.node.nodeid) or left_out.NO_REASON}")
    return real_torch_or_none


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [r for found in terminalreporter.stats.values() for r in found if isinstance(r, pytest.TestReport)]
    unchecked = {value for report in reports for key, value in report.user_properties if key == UNCHECKED}
    if not unchecked:
        return
    files: dict[str, int] = {}
    for nodeid in unchecked:
        name = nodeid.split("::")[0]
        files[name] = files.get(name, 0) + 1
    why = "REFTORCH_COMPARE=0" if os.environ.get("REFTORCH_COMPARE") == "0" else "torch is not installed"
    terminalreporter.section(f"{UNCHECKED}: {len(unchecked)} tests ({why})", yellow=True, bold=True)
    for name, count in sorted(files.items()):
        terminalreporter.line(f"{count:6}  {name}")
    reasons = [left_out.reason(nodeid) or left_out.NO_REASON for nodeid in unchecked]
    terminalreporter.line("why no answer of torch is stored for them:")
    for reason in sorted(set(reasons)):
        terminalreporter.line(f"{reasons.count(reason):6}  {reason}")
    if why == "torch is not installed":
        terminalreporter.line("to compare: .venv/bin/pip install torch==2.13.0, then make test")
