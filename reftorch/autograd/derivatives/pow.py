"""Derivatives of powers.

Mirrors: tools/autograd/derivatives.yaml (pow), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

import math
from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_fn = _C._VariableFunctions

derivative(
    "pow.Tensor_Scalar",
    self=lambda grad, self, exponent: (
        _fn.zeros_like(grad) if exponent == 0 else grad * (exponent * self.pow(exponent - 1))
    ),
    result="auto_element_wise",
)


# x^0 is 1 for every x, so the derivative is 0 where the general rule gives 0 * infinity. The same holds for 0^b log 0.
def _pow_self(grad: Any, self: Any, exponent: Any) -> Any:
    return _fn.where(exponent == 0, 0.0, grad * (exponent * self.pow(exponent - 1)))


def _pow_exponent(grad: Any, self: Any, exponent: Any, result: Any) -> Any:
    flat = (self == 0).logical_and(exponent >= 0)
    return grad * _fn.where(flat, 0.0, result * self.to(result.dtype).log())


derivative("pow.Tensor_Tensor", self=_pow_self, exponent=_pow_exponent, result="auto_element_wise", node_number=1)


def _pow_scalar(grad: Any, self: float, exponent: Any, result: Any) -> Any:
    if self == 0:
        return _fn.where(exponent >= 0, 0.0, grad * result * -math.inf)
    return grad * (result * (math.log(self) if self > 0 else math.nan))


derivative("pow.Scalar", exponent=_pow_scalar, result="auto_element_wise", node_number=2)
