"""Padding: borders around tensors.

Mirrors: torch/nn/functional.py (``pad``), aten/src/ATen/native/PadNd.cpp, ReflectionPad.cpp, ReplicationPadding.cpp
Leaves out: nothing.

PyTorch has a kernel for each kind of border and number of dimensions. Here, a border that repeats elements is an
``index_select`` along one dimension after another.
"""

from __future__ import annotations

from collections.abc import Sequence

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch.amp._casts import fp32

__all__ = ["pad"]


def _place(mode: str, before: int, size: int, after: int) -> Tensor:
    """Return, for each place of the padded dimension, the index of the element that stands there."""
    if mode == "circular":  # negative padding crops first; the rest wraps around
        first, left = max(-before, 0), size - max(-before, 0) - max(-after, 0)
        return _VF.arange(-max(before, 0), left + max(after, 0)) % left + first
    place = _VF.arange(-before, size + after)
    if mode == "reflect":
        return (size - 1) - ((size - 1) - place.abs()).abs()
    return place.clamp(0, size - 1)


def _check_size(mode: str, input: Tensor, dim: int, before: int, after: int) -> None:
    size = input.shape[dim]
    if mode == "reflect" and (before >= size or after >= size):
        raise RuntimeError(
            f"Argument #{2 * (input.dim() - dim) + 2}: Padding size should be less than the corresponding input "
            f"dimension, but got: padding ({before}, {after}) at dimension {dim} of input {list(input.shape)}"
        )
    if mode == "circular" and (before > size or after > size):
        raise RuntimeError("Padding value causes wrapping around more than once.")
    if mode == "circular" and size + before + after < 0:
        raise RuntimeError("Negative padding value is resulting in an empty dimension")
    if mode != "circular" and size + before + after < 0:
        _raise_too_small(input, [dim], [size + before + after])


def _raise_too_small(input: Tensor, dims: list[int], sizes: list[int]) -> None:
    names = ["WHD"[input.dim() - 1 - dim] for dim in dims]
    sides = ", ".join(f"{name}: {input.shape[dim]}" for name, dim in zip(names, dims, strict=True))
    results = " ".join(f"{name}: {size}" for name, size in zip(names, sizes, strict=True))
    raise RuntimeError(f"input ({sides}) is too small. Calculated output {results}")


@overridable
def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    r"""Put a border around a tensor.

    Args:
        input: tensor of any shape for a constant border; the other modes need one or two dimensions more than ``pad``
            has pairs.
        pad: the number of elements before and after, first for the last dimension, then for the one before it, and so
            on; a negative number removes elements.
        mode: the content of the border. ``"constant"``: ``value``; ``"reflect"``: the elements mirrored at the
            outermost one, which is not repeated; ``"replicate"``: the outermost element; ``"circular"``: elements of
            the other end.
        value: the value of a constant border, 0 by default.

    Returns:
        A tensor with the sizes of ``input``, plus ``pad[0] + pad[1]`` in the last dimension, and so on.

    Raises:
        RuntimeError: ``pad`` has an odd length or too many numbers, or does not fit the sizes.
        NotImplementedError: ``mode`` is unknown, or does not take this number of dimensions.

    Example:
        >>> import reftorch as torch
        >>> x = torch.tensor([[1, 2, 3]])
        >>> torch.nn.functional.pad(x, (1, 2))
        tensor([[0, 1, 2, 3, 0, 0]])
        >>> torch.nn.functional.pad(x, (2, 1), mode="reflect")
        tensor([[3, 2, 1, 2, 3, 2]])
        >>> torch.nn.functional.pad(x, (2, 1), mode="replicate")
        tensor([[1, 1, 1, 2, 3, 3]])
        >>> torch.nn.functional.pad(x, (2, 1), mode="circular")
        tensor([[2, 3, 1, 2, 3, 1]])

    Mirrors torch/nn/functional.py, ``pad``.
    """
    pads, ndim = list(pad), input.dim()
    if len(pads) % 2 != 0:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pads) > 2 * ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pads)} and input of dimension {ndim}"
        )
    if mode == "constant":
        return _VF.constant_pad_nd(input, pads, 0 if value is None else value)
    if value:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(pads) not in (2, 4, 6) or ndim - len(pads) // 2 not in (1, 2):
        raise NotImplementedError(
            f"Padding size {len(pads)} is not supported for {ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if mode != "circular" and 0 in input.shape[ndim - 1 - len(pads) // 2 :]:
        low = len(pads) // 2 + 1
        raise RuntimeError(
            f"Expected {low}D or {low + 1}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(input.shape)}"
        )
    is_cast = mode == "replicate" or (mode == "reflect" and len(pads) < 6)
    return (_bordered_in_float32 if is_cast else _bordered)(input, pads, mode)


def _bordered(input: Tensor, pads: list[int], mode: str) -> Tensor:
    result = input
    dims = [input.dim() - 1 - i for i in range(len(pads) // 2)]
    sizes = [input.shape[dim] + pads[2 * i] + pads[2 * i + 1] for i, dim in enumerate(dims)]
    if mode != "circular" and max(sizes) < 1:  # as in PyTorch, some sizes may be 0, but not all of them
        _raise_too_small(input, dims[::-1], sizes[::-1])
    for i in range(len(pads) // 2):
        dim, before, after = input.dim() - 1 - i, pads[2 * i], pads[2 * i + 1]
        _check_size(mode, input, dim, before, after)
        result = result.index_select(dim, _place(mode, before, input.shape[dim], after))
    return result


# In autocast, PyTorch computes these borders in float32; reflection_pad3d is not on its list.
_bordered_in_float32 = fp32(_bordered)
