"""Run the op table on the simulated device under the watcher of kernels: races, addresses outside, unwritten memory.

    make watch-kernels                        # the whole table, with the gradients of each row
    make watch-kernels ARGS='softmax sum'     # the rows of these ops

The program needs simulated devices (REFTORCH_CUDA_SIM=2, which the target sets). The kernels are compiled once more
with instrumentation, which takes minutes the first time. `make test` runs a few ops only (device_watch.py).

Mirrors: nothing in PyTorch: its users watch kernels with NVIDIA's tools
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import reftorch as torch
from reftorch.debug import watch_kernels
from tests.cuda.device_ops import DEVICE, DTYPES, move
from tests.op_db import OPS
from tests.op_db.checks import both_orders, outcome
from tests.op_db.core import OpInfo

MOST_SAMPLES = 4
# The elements of an uninitialized tensor are read where a row looks at its result.
UNINITIALIZED = ("empty", "new_empty", "resize")


def watched(call: Callable[[], Any]) -> bool:
    """Make a call and return whether it gave a result. An op may refuse a dtype, but each kernel must be watched."""
    _, error = outcome(call)
    if error is not None and "watch_kernels" in str(error):  # the instrumented copy of a file does not compile
        raise error
    return error is None


def run(op: OpInfo) -> int:
    """Call the samples of a row, and the gradients of the first one. Returns the number of calls that gave a result."""
    calls = 0
    for dtype in [dtype for dtype in DTYPES if dtype in op.dtypes]:
        for sample in list(op.each(dtype))[:MOST_SAMPLES]:
            if outcome(lambda: op.run(torch, *sample.build(torch)))[1] is not None:  # noqa: B023
                continue  # the call is wrong on purpose, and a kernel's assertion would end the work of the device
            args, kwargs = sample.build(torch)
            there, there_kwargs = move(args), {name: move(value) for name, value in kwargs.items()}
            with DEVICE:
                calls += watched(lambda: op.run(torch, there, there_kwargs))  # noqa: B023
    if "float32" in op.dtypes:
        sample = next(op.each("float32"))
        watched(lambda: both_orders(op, sample, lambda t: t.to(DEVICE), lambda: DEVICE, nullcontext))
    return calls


def main(names: list[str]) -> int:
    """Run the rows, print what the watcher reports, and return how many rows have a report."""
    warnings.simplefilter("ignore")
    rows = [op for op in OPS if not names or op.function in names or op.name in names]
    faulty, calls, launches = 0, 0, Counter[bool]()
    for op in rows:
        if op.function.startswith(UNINITIALIZED):
            continue
        with watch_kernels() as seen:
            calls += run(op)
        launches.update(launch["instrumented"] for launch in seen.launches)
        if seen.problems:
            faulty += 1
            print(f"=== {op.name}", *seen.problems, sep="\n", flush=True)
    watched = f"{launches[True]} watched launches, {launches[False]} unwatched"
    print(f"{len(rows)} rows, {calls} calls, {watched}: {faulty} rows with a report")
    return faulty


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
