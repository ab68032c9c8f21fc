"""Derivatives of reading and writing at an index for each element.

Mirrors: tools/autograd/derivatives.yaml (gather, scatter, scatter_add, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from typing import Any

from reftorch.autograd.derivatives import derivative
from reftorch.autograd.derivatives._scatter_reduce import Moves, reduced_gradients

derivative(
    "gather",
    self=lambda grad, self_sizes, dim, index: grad.new_zeros(self_sizes).scatter_add(dim, index, grad),
    result="auto_linear",
)
derivative(
    "scatter.src",
    self=lambda grad, dim, index: grad.scatter(dim, index, 0),
    src=lambda grad, dim, index: grad.gather(dim, index),
    result="auto_linear",
)
derivative("scatter.value", self=lambda grad, dim, index: grad.scatter(dim, index, 0), node_number=1)
derivative(
    "scatter_add", self=lambda grad: grad, src=lambda grad, dim, index: grad.gather(dim, index), result="auto_linear"
)


def _scatter_moves(dim: int, index: Any, reduce: str, include_self: bool) -> Moves:
    return Moves(
        lambda x, src: x.scatter_add(dim, index, src),
        lambda x: x.gather(dim, index),
        lambda x: x.scatter(dim, index, 0),
        lambda x, src: x.scatter_reduce(dim, index, src, reduce, include_self=include_self),
    )


@derivative("scatter_reduce.two", inputs=["self", "src"])
def scatter_reduce(
    grad: Any, self: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool, result: Any
) -> tuple[Any, Any]:
    """Return both gradients; that of the source has the size of the index.

    Only forward mode may use a larger source.
    """
    for d, n in enumerate(index.shape[: src.dim()]):
        src = src.narrow(d, 0, n)
    moves = _scatter_moves(dim, index, reduce, include_self)
    return reduced_gradients(grad, self, src, reduce, include_self, result, moves)
