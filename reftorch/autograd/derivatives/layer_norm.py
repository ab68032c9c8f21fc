"""Derivatives of normalization to mean 0 and variance 1.

Mirrors: tools/autograd/derivatives.yaml (native_layer_norm, ...), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: batch_norm and rms_norm, which are made of other ops.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_fn, _nn = _C._VariableFunctions, _C._nn


# Mean and rstd exist for backward only: they have no gradients themselves.
@derivative("native_layer_norm", inputs=["input", "weight", "bias"], output_differentiability=[True, False, False])
def native_layer_norm(
    grad: Any, input: Any, normalized_shape: Any, weight: Any, bias: Any, result1: Any, result2: Any,
    needs_input_grad: Any,
) -> Any:  # fmt: skip
    return _nn.native_layer_norm_backward(
        grad, input, normalized_shape, result1, result2, weight, bias, list(needs_input_grad)
    )


@derivative("native_layer_norm_backward", inputs=["grad_out", "input", "weight", "bias"])
def native_layer_norm_backward(
    grads: Any, grad_out: Any, input: Any, normalized_shape: Any, rstd: Any, weight: Any, needs_input_grad: Any
) -> Any:
    """Let n be the normalized input, a = grad_out weight, and P(u) = rstd (u - mean(u) - n mean(u n)), which equals its
    transpose. The results of the op are P(a), and the sums of grad_out n and of grad_out over the rows."""
    inner = list(range(-len(normalized_shape), 0))
    outer = list(range(input.dim() - len(normalized_shape)))

    def mean(t: Any) -> Any:
        return t.mean(inner, keepdim=True)

    # rstd depends on the input, and a third derivative needs this dependence. eps is 1 / rstd^2 minus the variance.
    centered = input - mean(input)
    variance = mean(centered * centered)
    rstd = (variance + (rstd**-2 - variance).detach()).rsqrt()
    normal = centered * rstd

    def project(u: Any) -> Any:
        return rstd * (u - mean(u) - normal * mean(u * normal))

    u, v, w = grads
    a = grad_out if weight is None else grad_out * weight
    projected = project(u)
    result: list[Any] = [None, None, None, None]  # no result depends on the bias
    if needs_input_grad[0]:
        result[0] = (projected if weight is None else projected * weight) + v * normal + w
    if needs_input_grad[1]:
        through_a = project(a)
        result[1] = project(v * grad_out) - rstd * (
            mean(u * normal) * through_a + mean(a * normal) * projected + normal * mean(u * through_a)
        )
    if needs_input_grad[2]:
        result[2] = (grad_out * projected).sum(outer) if outer else grad_out * projected
    return tuple(result)
