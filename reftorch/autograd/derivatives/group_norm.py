"""The derivative of normalization of groups of channels.

Mirrors: tools/autograd/derivatives.yaml (native_group_norm), torch/csrc/autograd/FunctionsManual.cpp
(infinitely_differentiable_native_group_norm_backward)
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_nn = _C._nn


def _by_ops(grad: Any, input: Any, weight: Any, rstd: Any, N: Any, C: Any, HxW: Any, group: Any) -> Any:
    """The three gradients, made of ops that have derivatives themselves. Let n be the normalized input and
    a = grad weight; the gradient of the input is rstd (a - mean(a) - n mean(a n)) with means over a group."""
    shape = (N, group, C // group * HxW)
    grouped, grads = input.reshape(shape), grad.reshape(N, C, HxW)
    centered = grouped - grouped.mean(2, keepdim=True)
    # rstd depends on the input, and a third derivative needs this dependence. eps is 1 / rstd^2 minus the variance.
    variance = (centered * centered).mean(2, keepdim=True)
    rstd = (variance + (rstd.reshape(N, group, 1) ** -2 - variance).detach()).rsqrt()
    normal = centered * rstd
    a = (grads if weight is None else grads * weight.reshape(1, C, 1)).reshape(shape)
    of_input = rstd * (a - a.mean(2, keepdim=True) - normal * (a * normal).mean(2, keepdim=True))
    return of_input.reshape(input.shape), (grads * normal.reshape(N, C, HxW)).sum((0, 2)), grads.sum((0, 2))


# Mean and rstd exist for backward only: they have no gradients themselves.
@derivative("native_group_norm", inputs=["input", "weight", "bias"], output_differentiability=[True, False, False])
def native_group_norm(
    grad: Any, input: Any, weight: Any, result1: Any, result2: Any, N: Any, C: Any, HxW: Any, group: Any,
    needs_input_grad: Any,
) -> Any:  # fmt: skip
    if _C.is_grad_enabled():
        found = _by_ops(grad, input, weight, result2, N, C, HxW, group)
        return tuple(g if wanted else None for g, wanted in zip(found, needs_input_grad, strict=True))
    return _nn.native_group_norm_backward(
        grad, input, result1, result2, weight, N, C, HxW, group, list(needs_input_grad)
    )
