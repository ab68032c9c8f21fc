"""A comparison of two sets of named tensors: of two runs, of two models, of reftorch and torch.

Mirrors: nothing in PyTorch: torch/testing/_comparison.py stops at the first tensor and does not know the order of
events. Left out: tensors of other libraries than torch; values that are neither tensors, numbers nor texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import no_grad
from reftorch.debug.common.library import is_tensor, library_of, why_no_values
from reftorch.debug.common.table import Report, Table, dtype_text, shape_text

# By the name of the dtype. The result of several layers has fewer correct digits than the result of one op.
TOLERANCES = {"float16": (1e-2, 1e-3), "bfloat16": (2e-2, 1e-2), "float32": (1e-4, 1e-5), "float64": (1e-7, 1e-9)}
MOST_ROWS = 20


def is_integral(tensor: Any) -> bool:
    """Return whether the elements are integers or bools, which are compared exactly."""
    return not (tensor.is_floating_point() or tensor.is_complex())


def as_float64(tensor: Any) -> Tensor:
    """Copy a tensor of reftorch or torch to a tensor of reftorch; a complex one becomes pairs of numbers."""
    return _taken(tensor, "double")


def as_int64(tensor: Any) -> Tensor:
    """Copy a tensor of integers or bools of reftorch or torch to a tensor of reftorch."""
    return _taken(tensor, "long")


def _taken(tensor: Any, conversion: str) -> Tensor:
    with library_of(tensor).no_grad():
        tensor = tensor.detach()
        if not isinstance(tensor, _C.TensorBase):
            tensor = tensor.to_dense() if tensor.layout is not library_of(tensor).strided else tensor
            tensor = library_of(tensor).view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor
            tensor = _C.from_numpy(getattr(tensor.cpu(), conversion)().contiguous().numpy())
    converted: Tensor = getattr(tensor, conversion)()
    return converted


@dataclass
class Difference:
    """The comparison of two tensors with one name."""

    name: str
    what: str  # "equal", "close", "not compared: ..." with the reason, or a description of the problem
    largest: float = 0.0  # of |a - b|
    wrong: int = 0  # elements
    numel: int = 0
    place: tuple[int, ...] = ()  # of the largest excess
    a: float = 0.0  # there; an integer of tensors of integers
    b: float = 0.0

    @property
    def compared(self) -> bool:
        """Whether the values could be read."""
        return not self.what.startswith("not compared")

    @property
    def differs(self) -> bool:
        """Whether the tensors are neither equal nor close."""
        return self.compared and self.what not in ("equal", "close")


@no_grad()
def difference(name: str, a: Any, b: Any, rtol: float | None, atol: float | None) -> Difference:
    """Compare by ``|a - b| <= atol + rtol * |b|``, integers exactly. NaN equals NaN, and an infinity equals itself."""
    if not (is_tensor(a) and is_tensor(b)):
        same = type(a) is type(b) and (a == b or (a != a and b != b))
        return Difference(name, "equal" if same else f"{told(a)} against {told(b)}", numel=1)
    lazy = next((why for why in map(why_no_values, (a, b)) if "lazy" in why), "")
    if not lazy and tuple(a.shape) != tuple(b.shape):
        return Difference(name, f"shape {shape_text(a.shape)} against {shape_text(b.shape)}")
    why = lazy or why_no_values(a) or why_no_values(b)
    if why:
        shape = "" if lazy else f"both have the shape {shape_text(a.shape)}, but "
        return Difference(name, f"not compared: {shape}a tensor {why}")
    known = [TOLERANCES.get(dtype_text(tensor), (0.0, 0.0)) for tensor in (a, b)]
    rtol = max(pair[0] for pair in known) if rtol is None else rtol
    atol = max(pair[1] for pair in known) if atol is None else atol
    exact = is_integral(a) and is_integral(b)
    x, y = ((as_int64 if exact else as_float64)(tensor).reshape(-1) for tensor in (a, b))
    if x.numel() == 0:
        return Difference(name, "equal")
    same = (x == y) | (x.isnan() & y.isnan())
    gap = (gap_of_integers(x, y) if exact else (x - y).abs()).masked_fill(same, 0.0)
    excess = (gap - (atol + rtol * y.double().abs())).masked_fill(same, -1.0).nan_to_num(float("inf"))
    wrong, worst = int((excess > 0).sum()), int(excess.argmax())
    largest = float(gap.max())
    if wrong == 0:
        return Difference(name, "equal" if bool(same.all()) else "close", largest, 0, x.numel())
    sizes = (*a.shape, 2) if x.numel() != a.numel() else tuple(a.shape)
    place = tuple(int(i) for i in unravel(worst, sizes))
    return Difference(name, "differs", largest, wrong, x.numel(), place, x[worst].item(), y[worst].item())


def gap_of_integers(x: Tensor, y: Tensor) -> Tensor:
    """Return ``|x - y|`` in float64. Two numbers of one sign are subtracted as integers, where nothing overflows."""
    one_sign = (x < 0) == (y < 0)
    return _VF.where(one_sign, (x - y).abs().double(), (x.double() - y.double()).abs())


def told(value: Any) -> str:
    """Return the text of a value of a mapping that may be no tensor."""
    return f"a tensor {shape_text(value.shape)}" if is_tensor(value) else repr(value)[:40]


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
    def compared(self) -> int:
        """The number of names whose values were compared."""
        return sum(row.compared for row in self.rows)

    @property
    def equal(self) -> bool:
        """Whether all values were compared, at least one, and none differs."""
        return bool(self.rows) and self.compared == len(self.rows) and not self.differs

    @property
    def differs(self) -> bool:
        """Whether there is a difference."""
        return any(row.differs for row in self.rows)

    def tables(self) -> list[Table]:
        first = self.first
        unread = [row for row in self.rows if not row.compared]
        if first is None:
            largest = max((row.largest for row in self.rows), default=0.0)
            agree = f"all {self.compared} agree; largest |a - b| {largest:.3g}"
            if not self.rows:
                return [Table([], [], f"{self.what}: nothing was compared, because there is no tensor")]
            if not unread:
                return [Table([], [], f"{self.what}: {agree}")]
            agree = f"{self.compared} agree" if self.compared else "nothing was compared"
            more = f"; {len(unread)} of {len(self.rows)} could not be compared"
            return [Table(["name", ""], [(r.name, r.what) for r in unread[:MOST_ROWS]], f"{self.what}: {agree}{more}")]
        shown = self._shown(first)
        caption = f"{self.what}: first difference at {first.name}: {said(first)}"
        rows = [(r.name, said(r), r.largest if measured(r) else None) for r in shown]
        differing = sum(row.differs for row in self.rows)
        notes = [f"{differing} of {len(self.rows)} differ"]
        notes += [f"{len(unread)} could not be compared"] if unread else []
        hidden = differing - sum(row.differs for row in shown)
        notes += [f"({hidden} more are not shown)"] if hidden else []
        return [Table(["name", "", "largest |a - b|"], rows, caption, notes, {shown.index(first)})]

    def _shown(self, first: Difference) -> list[Difference]:
        """Return the last equal row before the first difference, and the rows that differ."""
        before = [row for row in self.rows[: self.rows.index(first)] if not row.differs][-1:]
        differing = [row for row in self.rows if row.differs and row is not first]
        return [*before, first, *differing[: MOST_ROWS - 1]]


def measured(row: Difference) -> bool:
    """Return whether elements were compared one by one."""
    return row.what in ("equal", "close", "differs")


def said(row: Difference) -> str:
    """Return the text of a cell, or of the end of a caption."""
    if row.what != "differs":
        return row.what
    where = f" at {list(row.place)}" if row.place else ""
    a, b = (str(n) if isinstance(n, int) else f"{n:.6g}" for n in (row.a, row.b))
    return f"{row.wrong} of {row.numel} differ; worst{where}: {a} against {b}"
