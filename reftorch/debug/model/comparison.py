"""A comparison of two sets of named tensors: of two runs, of two models, of reftorch and torch.

Mirrors: nothing in PyTorch: torch/testing/_comparison.py stops at the first tensor and does not know the order of
events. Left out: tensors of other libraries than torch; complex numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reftorch import _C
from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import no_grad
from reftorch.debug.common.table import Report, Table, dtype_text, shape_text

# By the name of the dtype. The result of several layers has fewer correct digits than the result of one op.
TOLERANCES = {"float16": (1e-2, 1e-3), "bfloat16": (2e-2, 1e-2), "float32": (1e-4, 1e-5), "float64": (1e-7, 1e-9)}
MOST_ROWS = 20


def as_float64(tensor: Any) -> Tensor:
    """Copy a tensor of reftorch or torch to a tensor of reftorch."""
    if not isinstance(tensor, _C.TensorBase):
        tensor = _C.from_numpy(tensor.detach().cpu().double().contiguous().numpy())
    return tensor.detach().double()


@dataclass
class Difference:
    """The comparison of two tensors with one name."""

    name: str
    what: str  # "equal", "close", or a description of the problem
    largest: float = 0.0  # of |a - b|
    wrong: int = 0  # elements
    numel: int = 0
    place: tuple[int, ...] = ()  # of the largest excess
    a: float = 0.0  # there
    b: float = 0.0

    @property
    def differs(self) -> bool:
        """Whether the tensors are neither equal nor close."""
        return self.what not in ("equal", "close")


@no_grad()
def difference(name: str, a: Any, b: Any, rtol: float | None, atol: float | None) -> Difference:
    """Compare by ``|a - b| <= atol + rtol * |b|``. NaN equals NaN, and an infinity equals itself."""
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
    """Return the subscripts of the element with the linear index ``index``."""
    place = []
    for size in reversed(shape):
        index, i = divmod(index, size)
        place.append(i)
    return tuple(reversed(place))


class Comparison(Report):
    """The comparison of two sets of named tensors, in the order of the first set.

    ``equal`` is True if the sets do not differ, ``first`` is the first difference or None, and ``rows`` holds the
    :class:`Difference` of each name.
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
        """The first difference. A tensor that both sets have is preferred to a tensor that one set lacks."""
        differing = [row for row in self.rows if row.differs]
        both = [row for row in differing if not row.what.startswith("only")]
        return next(iter(both or differing), None)

    @property
    def equal(self) -> bool:
        """Whether there is no difference."""
        return not any(row.differs for row in self.rows)

    def tables(self) -> list[Table]:
        if self.equal:
            largest = max((row.largest for row in self.rows), default=0.0)
            return [Table([], [], f"{self.what}: all {len(self.rows)} agree; largest |a - b| {largest:.3g}")]
        first = self.first
        assert first is not None
        shown = self._shown(first)
        caption = f"{self.what}: first difference at {first.name}: {said(first)}"
        rows = [(r.name, said(r), r.largest if not r.what.startswith(("only", "shape")) else None) for r in shown]
        differing = sum(row.differs for row in self.rows)
        notes = [f"{differing} of {len(self.rows)} differ"]
        hidden = differing - sum(row.differs for row in shown)
        notes += [f"({hidden} more are not shown)"] if hidden else []
        return [Table(["name", "", "largest |a - b|"], rows, caption, notes, {shown.index(first)})]

    def _shown(self, first: Difference) -> list[Difference]:
        """Return the last equal row before the first difference, and the rows that differ."""
        before = [row for row in self.rows[: self.rows.index(first)] if not row.differs][-1:]
        differing = [row for row in self.rows if row.differs and row is not first]
        return [*before, first, *differing[: MOST_ROWS - 1]]


def said(row: Difference) -> str:
    """Return the text of a cell, or of the end of a caption."""
    if row.what != "differs":
        return row.what
    where = f" at {list(row.place)}" if row.place else ""
    return f"{row.wrong} of {row.numel} differ; worst{where}: {row.a:.6g} against {row.b:.6g}"
