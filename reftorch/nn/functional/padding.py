"""Padding: borders around tensors.

Mirrors: torch/nn/functional.py (``pad``)
Leaves out: the decomposition that CUDA devices use for a deterministic gradient.
"""

from __future__ import annotations

from collections.abc import Sequence

from reftorch import _C
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable

__all__ = ["pad"]


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
    return _C._nn.pad(input, pad, mode, value)  # type: ignore[arg-type]  # the stubs name lists and tuples
