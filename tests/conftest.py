"""What all tests share: torch to compare with where it is installed, and an honest account where it is not.

Mirrors: nothing in PyTorch: it has no other library to be compared with.

A test that needs the real torch asks for the fixture ``real_torch``. Where torch is missing, or is not wanted
(``REFTORCH_COMPARE=0``), the test is skipped and counted, and the last lines of the run say how many were and why.
A test that can do without it asks for ``real_torch_or_none`` and is counted the same way, for its half.
"""

import gc
import importlib.util
import os
from types import ModuleType

import pytest

collect_ignore_glob = ["bench/*", "course/browser/*", "debug/fuzz_printers.py", "vscode/*"]  # other programs' parts

UNCHECKED = "not compared with torch"


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
    all tests for each test it hands out. For forty thousand tests that is a minute of the processor's time.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduler(LoadFileScheduling):
        def add_node_collection(self, node, collection):  # type: ignore[no-untyped-def]
            super().add_node_collection(node, collection)
            self.places = {test: place for place, test in enumerate(collection)}

        def _assign_work_unit(self, node):  # type: ignore[no-untyped-def]
            file, tests = self.workqueue.popitem(last=False)
            self.assigned_work[node][file] = tests
            node.send_runtest_some([self.places[test] for test in tests])

        def mark_test_complete(self, node, item_index, duration=0):  # type: ignore[no-untyped-def]
            test = self.collection[item_index]
            file = self._split_scope(test)
            del self.assigned_work[node][file][test]
            if not self.assigned_work[node][file]:
                del self.assigned_work[node][file]
            self._reschedule(node)

        def _pending_of(self, workload):  # type: ignore[no-untyped-def]
            return sum(map(len, workload.values()))

    return Scheduler(config, log) if config.getoption("dist") == "loadfile" else None


def _import_torch() -> ModuleType | None:
    if os.environ.get("REFTORCH_COMPARE") == "0":
        return None
    if importlib.util.find_spec("torch") is None:
        return None
    torch = importlib.import_module("torch")  # installed but broken is an error, not an absence
    torch.set_num_threads(1)
    gc.freeze()
    return torch


@pytest.fixture(scope="session")
def _torch() -> ModuleType | None:
    return _import_torch()


@pytest.fixture
def real_torch_or_none(_torch: ModuleType | None, request: pytest.FixtureRequest) -> ModuleType | None:
    """The real torch, or None; then the test is counted as not compared."""
    if _torch is None:
        request.node.user_properties.append((UNCHECKED, request.node.nodeid))
    return _torch


@pytest.fixture
def real_torch(real_torch_or_none: ModuleType | None) -> ModuleType:
    """The real torch; without it the test is skipped and counted as not compared."""
    if real_torch_or_none is None:
        pytest.skip(UNCHECKED)
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
    if why == "torch is not installed":
        terminalreporter.line("to compare: .venv/bin/pip install torch==2.13.0, then make test")
