"""Derivatives of reading and writing at the indices of one dimension.

Mirrors: tools/autograd/derivatives.yaml (index_select, index_add, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from typing import Any

from reftorch.autograd.derivatives import derivative
from reftorch.autograd.derivatives._scatter_reduce import Moves, reduced_gradients

# --- one index tensor, one dimension ----------------------------------------------------------------------------------

derivative(
    "index_select",
    self=lambda grad, self_sizes, dim, index: grad.new_zeros(self_sizes).index_add(dim, index, grad),
    result="auto_linear",
)
derivative(
    "index_add",
    self=lambda grad: grad,
    source=lambda grad, source_sizes, dim, index, alpha: grad.index_select(dim, index).reshape(source_sizes) * alpha,
    result="auto_linear",
)

derivative(
    "index_copy",
    self=lambda grad, dim, index: grad.index_fill(dim, index, 0),
    source=lambda grad, source_sizes, dim, index: grad.index_select(dim, index).reshape(source_sizes),
)
derivative("index_fill.int_Scalar", self=lambda grad, dim, index: grad.index_fill(dim, index, 0))
derivative(
    "index_fill.int_Tensor",
    self=lambda grad, dim, index: grad.index_fill(dim, index, 0),
    value=lambda grad, dim, index: (grad - grad.index_fill(dim, index, 0)).sum(),
    node_number=1,
)

# --- positions in the flattened tensor --------------------------------------------------------------------------------

derivative("take", self=lambda grad, self_sizes, index: grad.new_zeros(self_sizes).put(index, grad, True))
derivative(
    "put",
    self=lambda grad, index, accumulate: grad if accumulate else grad.put(index, grad.new_zeros(index.shape)),
    source=lambda grad, source_sizes, index: grad.take(index).reshape(source_sizes),
)


def _index_moves(dim: int, index: Any, reduce: str, include_self: bool) -> Moves:
    return Moves(
        lambda x, src: x.index_add(dim, index, src),
        lambda x: x.index_select(dim, index),
        lambda x: x.index_fill(dim, index.long(), 0),
        lambda x, src: x.index_reduce(dim, index, src, reduce, include_self=include_self),
    )


@derivative("index_reduce", inputs=["self", "source"])
def index_reduce(
    grad: Any, self: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool, result: Any
) -> tuple[Any, Any]:
    moves = _index_moves(dim, index, reduce, include_self)
    return reduced_gradients(grad, self, source, reduce, include_self, result, moves)
