"""Where two sets of named tensors first part: two runs, two models, ours and torch's.

Mirrors: nothing in PyTorch: torch/testing/_comparison.py stops at the first tensor and knows no order of events.
Left out: tensors of other libraries than torch; complex numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reftorch import _C
from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import no_grad
from reftorch.debug._table import Report, Table, dtype_text, shape_text

# By name of the dtype; a number that went through several layers has fewer right digits than one of a single op.
TOLERANCES = {"float16": (1e-2, 1e-3), "bfloat16": (2e-2, 1e-2), "float32": (1e-4, 1e-5), "float64": (1e-7, 1e-9)}
MOST_ROWS = 20


def as_float64(tensor: Any) -> Tensor:
    """A copy of the numbers of a tensor, ours or torch's, as ours."""
    if not isinstance(tensor, _C.TensorBase):
        tensor = _C.from_numpy(tensor.detach().cpu().double().contiguous().numpy())
    return tensor.detach().double()


@dataclass
class Difference:
    """How a pair of tensors of one name compares."""

    name: str
    what: str  # "equal", "close", or what is wrong
    largest: float = 0.0  # of |a - b|
    wrong: int = 0  # elements
    numel: int = 0
    place: tuple[int, ...] = ()  # of the largest excess
    a: float = 0.0  # there
    b: float = 0.0

    @property
    def parts(self) -> bool:
        return self.what not in ("equal", "close")


@no_grad()
def difference(name: str, a: Any, b: Any, rtol: float | None, atol: float | None) -> Difference:
    """Compare ``|a - b| <= atol + rtol * |b|``; NaN equals NaN, and an infinity itself."""
    if tuple(a.shape) != tuple(b.shape):
        return Difference(name, f"shape {shape_text(a.shape)} against {shape_text(b.shape)}")
    known = [TOLERANCES.get(dtype_text(tensor), (0.0, 0.0)) for tensor in (a, b)]
    rtol = max(pair[0] for pair in known) if rtol is None else rtol
    atol = max(pair[1] for pair in known) if atol is None else atol
    x, y = as_float64(a).reshape(-1), as_float64(b).reshape(-1)
    if x.numel() == 0:
        return Difference(name, "equal")
    same = (x == y) | (x.isnan() & y.isnan())
    gap = (x - y).abs().masked_fill(same, 0.0)
    excess = (gap - (atol + rtol * y.abs())).masked_fill(same, -1.0).nan_to_num(float("inf"))
    wrong, worst = int((excess > 0).sum()), int(excess.argmax())
    largest = float(gap.max())
    if wrong == 0:
        return Difference(name, "equal" if bool(same.all()) else "close", largest, 0, x.numel())
    place = tuple(int(i) for i in unravel(worst, tuple(a.shape)))
    return Difference(name, "differs", largest, wrong, x.numel(), place, float(x[worst]), float(y[worst]))


def unravel(index: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The subscripts of the element that comes ``index``-th."""
    place = []
    for size in reversed(shape):
        index, i = divmod(index, size)
        place.append(i)
    return tuple(reversed(place))


class Comparison(Report):
    """What two sets of named tensors have in common, in the order of the first.

    ``equal`` says whether they do not part, ``first`` where they first do (None where they do not), ``rows`` holds each
    name's :class:`Difference`.
    """

    def __init__(
        self, a: Mapping[str, Any], b: Mapping[str, Any], rtol: float | None, atol: float | None, what: str = "tensors"
    ) -> None:
        self.what = what
        self.rows = [
            difference(name, tensor, b[name], rtol, atol) if name in b else Difference(name, "only in the first")
            for name, tensor in a.items()
        ]
        self.rows += [Difference(name, "only in the second") for name in b if name not in a]

    @property
    def first(self) -> Difference | None:
        """The first that parts; one that both have rather than one that a side lacks."""
        parting = [row for row in self.rows if row.parts]
        both = [row for row in parting if not row.what.startswith("only")]
        return next(iter(both or parting), None)

    @property
    def equal(self) -> bool:
        """Whether none parts."""
        return not any(row.parts for row in self.rows)

    def tables(self) -> list[Table]:
        if self.equal:
            largest = max((row.largest for row in self.rows), default=0.0)
            return [Table([], [], f"{self.what}: all {len(self.rows)} agree; largest |a - b| {largest:.3g}")]
        first = self.first
        assert first is not None
        shown = self._shown(first)
        caption = f"{self.what}: first part at {first.name}: {said(first)}"
        rows = [(r.name, said(r), r.largest if not r.what.startswith(("only", "shape")) else None) for r in shown]
        parting = sum(row.parts for row in self.rows)
        notes = [f"{parting} of {len(self.rows)} part"]
        hidden = parting - sum(row.parts for row in shown)
        notes += [f"({hidden} more are not shown)"] if hidden else []
        return [Table(["name", "", "largest |a - b|"], rows, caption, notes, {shown.index(first)})]

    def _shown(self, first: Difference) -> list[Difference]:
        """The last that agrees before the first that parts, and those that part."""
        before = [row for row in self.rows[: self.rows.index(first)] if not row.parts][-1:]
        parting = [row for row in self.rows if row.parts and row is not first]
        return [*before, first, *parting[: MOST_ROWS - 1]]


def said(row: Difference) -> str:
    """A cell or a caption's end."""
    if row.what != "differs":
        return row.what
    where = f" at {list(row.place)}" if row.place else ""
    return f"{row.wrong} of {row.numel} differ; worst{where}: {row.a:.6g} against {row.b:.6g}"
