"""Reductions of consecutive segments of a tensor.

Mirrors: aten/src/ATen/native/SegmentReduce.cpp

``indices`` is refused, as PyTorch refuses it. The segment of each element is found first; then
``scatter_reduce`` reduces the segments, and its gradient serves for this function too.
"""

from __future__ import annotations

import math
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable

__all__ = ["segment_reduce"]

_REDUCTIONS = {
    "sum": "sum",
    "mean": "sum",
    "prod": "prod",
    "max": "amax",
    "amax": "amax",
    "min": "amin",
    "amin": "amin",
}
_IDENTITIES = {"sum": 0.0, "prod": 1.0, "amax": -math.inf, "amin": math.inf}
_FLOATS = (_C.float32, _C.float64, _C.float16, _C.bfloat16)


def _checked_axis(data: Tensor, pieces: Tensor, name: str, axis: int) -> int:
    if not -data.dim() <= axis < max(data.dim(), 1):
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-data.dim()}, {data.dim() - 1}], but got {axis})"
        )
    if data.dim() < max(pieces.dim(), 1):
        raise RuntimeError(
            f"segment_reduce(): Expected data to have at least as many dimensions as {name}, but got {data.dim()} "
            f"and {pieces.dim()}"
        )
    axis %= data.dim()
    if axis != pieces.dim() - 1:
        raise RuntimeError(
            f"segment_reduce(): Expected axis to be the last dimension of {name} but got {axis}. Hint: {name} has the "
            "dimensions of data before axis, and one for the segments."
        )
    if pieces.dtype not in (_C.int32, _C.int64):
        raise NotImplementedError(
            f"\"segment_reduce\" not implemented for {name} of '{pieces.dtype}'; expected int32 or int64"
        )
    return axis


def _checked_lengths(data: Tensor, lengths: Tensor, axis: int, unsafe: bool) -> Tensor:
    if lengths.numel() > 0 and lengths.min().item() < 0:
        raise RuntimeError("lengths contains negative value!")
    total, size = lengths.sum(-1), data.shape[axis]
    if not unsafe and not (total == size).all():
        raise RuntimeError(
            "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
            "!unsafe."
        )
    if (total > size).any():
        raise RuntimeError(f"segment_reduce(): lengths sum to more than the {size} elements along dimension {axis}")
    return lengths


@overridable
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Tensor:
    r"""Reduce each of the consecutive segments of ``data`` along ``axis`` to one number.

    .. math:: y_k = \operatorname{reduce}(x_{o_k}, \dots, x_{o_{k+1} - 1})

    Args:
        data: of a floating dtype.
        reduce: ``"sum"``, ``"mean"``, ``"prod"``, ``"max"`` or ``"min"``.
        lengths: the length of each segment, (\*, K), where \* are the dimensions of ``data`` before ``axis``.
        offsets: instead of lengths, the start of each segment and the end of the last one, (\*, K + 1).
        unsafe: allow the lengths to sum to less than the size of ``axis``; elements after the last segment are ignored.
        initial: the initial value of each reduction. By default it is 0 for a sum, 1 for a product, and an infinity for
            an extremum; the mean of an empty segment is NaN.

    Shape: (\*, N, rest) -> (\*, K, rest).

    Raises:
        RuntimeError: the lengths or offsets do not fit ``data``.
        NotImplementedError: ``data`` or the lengths are of another dtype.

    Example:
        >>> torch.segment_reduce(torch.tensor([1.0, 2.0, 3.0, 4.0]), "max", lengths=torch.tensor([1, 3]))
        tensor([1., 4.])
    """
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if offsets is not None:
        axis = _checked_axis(data, offsets, "offsets", axis)
        first = offsets[..., :1]
        lengths = _checked_lengths(data, offsets.diff(dim=-1), axis, unsafe=True)
        lengths = _VF.cat([first, lengths], -1)  # a segment in front, which is dropped at the end
        lengths = _checked_lengths(data, lengths, axis, unsafe=True)
    elif lengths is not None:
        axis = _checked_axis(data, lengths, "lengths", axis)
        lengths = _checked_lengths(data, lengths, axis, unsafe)
    else:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if data.dtype not in _FLOATS:
        raise NotImplementedError(f"\"segment_reduce\" not implemented for '{data.dtype}'; expected a floating dtype")
    result = _reduce_pieces(data, reduce, lengths, axis, initial)
    return result if offsets is None else result.narrow(axis, 1, result.shape[axis] - 1).contiguous()


def _reduce_pieces(data: Tensor, reduce: str, lengths: Tensor, axis: int, initial: Any) -> Tensor:
    outer, inner, pieces = data.shape[:axis], data.shape[axis + 1 :], lengths.shape[-1]
    places = _VF.arange(data.shape[axis]).expand(*outer, data.shape[axis])
    ends = lengths.cumsum(-1)
    # The index of an element after the last segment is the number of segments.
    index = _VF.searchsorted(ends.contiguous(), places.contiguous(), right=True)
    index = index.reshape(*index.shape, *[1] * len(inner)).expand(data.shape)
    kind = _REDUCTIONS[reduce]
    start = _IDENTITIES[kind] if initial is None else initial
    result = data.new_full((*outer, pieces + 1, *inner), start).scatter_reduce(axis, index, data, kind)
    result = result.narrow(axis, 0, pieces).contiguous()
    if reduce == "mean":
        count = lengths.reshape(*lengths.shape, *[1] * len(inner)).expand(result.shape)
        result = result / (count if initial is None else count.clamp(min=1)).to(data.dtype)
    return result
