"""An op names the stubs that it calls, and its rows are filled for the devices that all of them have kernels for.

Mirrors: nothing in PyTorch: there nobody declares which stubs an op calls
"""

import contextlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

import reftorch
from reftorch import _C
from reftorch.debug.common.ops import Observer
from tests.op_db import OPS

DTYPES = ("float32", "int64")


def named_stubs() -> dict[str, set[str]]:
    """The stubs that each op named where it was registered."""
    return {
        name: {stub for kernel in _C._dispatch_registrations(name) for stub, _ in kernel["stubs"]}
        for name in _C._dispatch_get_all_op_names()
    }


class StubCalls(Observer):
    """Which stubs were called by which op; a call counts for the innermost op that runs."""

    def __init__(self) -> None:
        self.of: dict[str, set[str]] = defaultdict(set)
        self._running = [""]

    def _collect(self) -> None:
        self.of[self._running[-1]] |= _C._debug.take_stub_calls()

    def start(self, op: str, arguments: tuple) -> None:
        self._collect()
        self._running.append(op)

    def end(self, op: str, results: tuple | None) -> None:
        self._collect()
        self._running.pop()


@contextlib.contextmanager
def stub_calls() -> Iterator[StubCalls]:
    if not _C._debug.record_stub_calls(True):
        pytest.fail("stubs report their calls in a Debug build only; run this test with one")
    calls = StubCalls()
    calls.observe()
    try:
        yield calls
    finally:
        calls.look_away()
        _C._debug.record_stub_calls(False)


def run_table() -> None:
    """Each row of the op table forwards, in place and with out=; what raises has nothing to tell."""

    def attempt(function: Any) -> Any:
        with contextlib.suppress(Exception):
            return function()

    for row in OPS:
        for dtype in DTYPES:
            for sample in list(row.each(dtype))[:12]:

                def call(name: str = "", sample: Any = sample, row: Any = row, **more: Any) -> Any:
                    args, kwargs = sample.build(reftorch)
                    if name:
                        return getattr(args[0], name)(*args[1:], **kwargs)
                    return row.run(reftorch, args, {**kwargs, **more})

                result = attempt(call)
                attempt(lambda call=call, row=row: call(f"{row.function}_"))
                if isinstance(result, reftorch.Tensor):
                    out = reftorch.empty(0, dtype=result.dtype)
                    attempt(lambda call=call, out=out: call(out=out))


@pytest.mark.filterwarnings("ignore")
def test_ops_call_the_stubs_that_they_name_and_no_others() -> None:
    with stub_calls() as calls:
        run_table()
    named = named_stubs()
    unnamed = {op: stubs - named[op] for op, stubs in calls.of.items() if op and stubs - named[op]}
    assert unnamed == {}
    assert len([op for op in calls.of if calls.of[op]]) > 400  # the observer saw them


def test_a_row_is_filled_where_all_stubs_have_a_kernel() -> None:
    for name in _C._dispatch_get_all_op_names():
        kernels = _C._dispatch_registrations(name)
        for key in {kernel["key"] for kernel in kernels if kernel["stubs"]}:
            registered = [kernel["stubs"] for kernel in kernels if kernel["key"] == key]
            served = any(all(key in devices for _, devices in stubs) for stubs in registered)
            assert _C._dispatch_has_kernel_for_dispatch_key(name, key) == served, name


def test_every_stub_that_an_op_names_has_a_kernel_of_the_cpu() -> None:
    for name, stubs in named_stubs().items():
        assert not stubs or _C._dispatch_has_kernel_for_dispatch_key(name, "CPU"), name
