"""Compare every op with torch on drawn inputs, and print what was compared.

Mirrors: nothing in PyTorch: it has no other library to be compared with.

    make parity                               every op
    make parity ARGS='--only scatter'         the ops whose name contains a word
    make parity ARGS='--examples 1000'        more calls for each op
    make parity ARGS='--seed 7'               other calls (without it they are the same every time)
    make parity ARGS='--alone'                no torch: only that nothing crashes, hangs or raises a strange error

Of each call: value, dtype, shape, strides, type of the error, first and second gradients. Ends with 1 if anything
differs, or if for some op nothing was compared. Where a row says why it is not to follow torch in some calls, the table
says how many of those were drawn.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase

import reftorch
from tests.op_db import OPS
from tests.op_db.checks import assert_same_outcome, compare_gradients, gradients, outcome
from tests.op_db.core import Apart, OpInfo, Sample
from tests.parity.generate import calls

# What no row needs to follow: torch did not mean it.
ACCIDENTS = (
    Apart("torch fails an assertion of its own", says="INTERNAL ASSERT FAILED"),
    Apart("torch asks for a container of size -1 where a tensor has no dimensions", says="SmallVector unable to grow"),
    Apart("torch looks past the end of an empty tensor's memory", says="setStorage: sizes"),
)


@dataclass
class Row:
    """What happened to one op."""

    name: str
    calls: int = 0
    results: int = 0
    errors: int = 0
    gradients: int = 0
    difference: str = ""
    apart: Counter[str] = field(default_factory=Counter)  # differences that are to be, by their reason
    may_fail: bool = False  # whether there may be nothing but errors to compare

    @property
    def compared(self) -> bool:
        return self.results > 0 or (self.errors > 0 and self.may_fail)

    def __str__(self) -> str:
        verdict = f"DIFFERS  {self.difference}" if self.difference else "same" if self.compared else "NOTHING COMPARED"
        but = "".join(f"; but {n} calls: {why}" for why, n in self.apart.items())
        return f"{self.name:36} {self.calls:7} {self.results:8} {self.errors:7} {self.gradients:10}  {verdict}{but}"


def unless_apart(op: OpInfo, sample: Sample, row: Row, compared: Callable[[], int]) -> int:
    """What ``compared()`` returns; 0 where it finds a difference of which the row says that it is to be."""
    try:
        return compared()
    except AssertionError as difference:
        for apart in (*op.apart, *ACCIDENTS):
            if apart.covers(sample, str(difference)):
                row.apart[apart.why] += 1
                return 0
        raise


def compare(op: OpInfo, sample: Sample, torch: Any, row: Row) -> int:
    """One call in both libraries; whether it gave a result."""

    def run(lib: Any) -> Any:
        args, kwargs = sample.build(lib)
        return op.run(lib, args, kwargs)

    row.calls += 1
    for apart in op.apart:
        if apart.crashes and apart.when(sample):
            row.apart[apart.why] += 1
            return 0
    what = f"{op.name}({sample})"
    succeeded = unless_apart(
        op, sample, row, lambda: assert_same_outcome(lambda: run(reftorch), lambda: run(torch), what, op.rtol)
    )
    row.results += succeeded
    row.errors += not succeeded
    return succeeded


def call_alone(op: OpInfo, sample: Sample, row: Row) -> bool:
    """Ours only: any result and any error of the usual types will do; ``outcome`` lets the others through."""
    args, kwargs = sample.build(reftorch)
    _, error = outcome(lambda: op.run(reftorch, args, kwargs))
    row.calls += 1
    row.results += error is None
    row.errors += error is not None
    return error is None


def examine(op: OpInfo, torch: Any | None, settings: hypothesis.settings, seed: int | None) -> Row:
    row = Row(op.ops if len(op.ops) <= 36 else op.ops[:33] + "...", may_fail=any(apart.says for apart in op.apart))

    def seeded(test: Callable[..., None]) -> Callable[..., None]:
        return hypothesis.seed(seed)(test) if seed is not None else test

    @seeded
    @settings
    @hypothesis.given(calls(op))
    def forward(drawn: tuple[str, Sample]) -> None:
        if torch is None:
            call_alone(op, drawn[1], row)
        else:
            compare(op, drawn[1], torch, row)

    @seeded
    @settings
    @hypothesis.given(calls(op, dtypes=("float64",), special=False))
    def backward(drawn: tuple[str, Sample]) -> None:
        sample = drawn[1]
        if torch is None:
            if call_alone(op, sample, row):
                grads, _ = outcome(lambda: gradients(op, sample, reftorch))
                row.gradients += len(grads or ())
        elif compare(op, sample, torch, row) and op.gradient:
            row.gradients += unless_apart(op, sample, row, lambda: compare_gradients(op, sample, torch)[0])

    try:
        forward()
        if "float64" in op.dtypes:
            backward()
    except Exception as error:  # whatever was raised is the finding
        row.difference = " ".join(str(error).split())[:400] or type(error).__name__
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a word in the names of the ops to run")
    parser.add_argument("--examples", type=int, default=60, help="calls drawn for each op, and as many for gradients")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--alone", action="store_true", help="without torch: look for crashes only")
    options = parser.parse_args()
    torch = None if options.alone else importlib.import_module("torch")
    if torch is not None:
        torch.set_num_threads(1)
    settings = hypothesis.settings(
        max_examples=options.examples,
        deadline=None,
        database=None,
        derandomize=options.seed is None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    warnings.simplefilter("ignore")  # the libraries warn at different times: once, or at each call
    rows = []
    print(f"{'op':36} {'calls':>7} {'results':>8} {'errors':>7} {'gradients':>10}  verdict")
    for op in OPS:
        if options.only in op.ops:
            rows.append(examine(op, torch, settings, options.seed))
            print(rows[-1], flush=True)
    different = sum(bool(row.difference) for row in rows)
    nothing = sum(not row.difference and not row.compared for row in rows)
    calls_made, results = sum(row.calls for row in rows), sum(row.results for row in rows)
    print(f"\n{len(rows)} rows, {calls_made} calls, {results} results, {sum(row.gradients for row in rows)} gradients")
    print(f"{different} rows differ, {nothing} compared nothing")
    return int(different + nothing > 0 or not rows)


if __name__ == "__main__":
    sys.exit(main())
