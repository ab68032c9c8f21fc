"""Derivatives of softmax and its logarithm.

With y = softmax(x), dy_i/dx_j = y_i (1[i = j] - y_j).

Mirrors: tools/autograd/derivatives.yaml (_softmax, _log_softmax, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: sparse tensors.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_fn = _C._VariableFunctions

derivative(
    "_softmax",
    self=lambda grad, result, dim, self_scalar_type: _fn._softmax_backward_data(grad, result, dim, self_scalar_type),
)

derivative(
    "_log_softmax",
    self=lambda grad, result, dim, self_scalar_type: _fn._log_softmax_backward_data(
        grad, result, dim, self_scalar_type
    ),
)


# grad_input = (g - sum(g y)) y
def _softmax_backward_output(grad: Any, grad_output: Any, output: Any, dim: int) -> Any:
    inner = (grad_output * output).sum(dim, keepdim=True)
    return grad * (grad_output - inner) - grad_output * (grad * output).sum(dim, keepdim=True)


derivative(
    "_softmax_backward_data",
    grad_output=lambda grad, output, dim, input_dtype: _fn._softmax_backward_data(grad, output, dim, input_dtype),
    output=_softmax_backward_output,
)

# grad_input = g - e^y sum(g)
derivative(
    "_log_softmax_backward_data",
    grad_output=lambda grad, output, dim: grad - (grad * output.exp()).sum(dim, keepdim=True),
    output=lambda grad, grad_output, output, dim: -grad * output.exp() * grad_output.sum(dim, keepdim=True),
)
