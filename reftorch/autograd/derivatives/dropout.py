"""Derivatives of dropout with its mask; the other kinds of dropout are products.

Mirrors: tools/autograd/derivatives.yaml (native_dropout, native_dropout_backward),
torch/csrc/autograd/FunctionsManual.cpp (infinitely_differentiable_native_dropout_backward)
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative


def _of_input(grad: Any, p: float, train: bool | None, result1: Any) -> Any:
    scale = 1.0 if not train else 0.0 if p == 1 else 1 / (1 - p)
    if _C.is_grad_enabled():
        return grad * (result1.type_as(grad) * scale)
    return _C._nn.native_dropout_backward(grad, result1, scale)


derivative("native_dropout", input=_of_input, output_differentiability=[True, False])
derivative("native_dropout_backward", grad_output=lambda grad, mask, scale: grad * (mask.type_as(grad) * scale))
