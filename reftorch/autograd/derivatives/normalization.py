"""Derivatives of the normalization of channels over a batch.

Mirrors: tools/autograd/derivatives.yaml (native_batch_norm, native_batch_norm_backward),
torch/csrc/autograd/FunctionsManual.cpp (batchnorm_double_backward)
Leaves out: complex numbers.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_nn = _C._nn


# The saved mean and invstd exist for backward only: they have no gradients themselves.
@derivative("native_batch_norm", inputs=["input", "weight", "bias"], output_differentiability=[True, False, False])
def native_batch_norm(
    grad: Any, input: Any, weight: Any, running_mean: Any, running_var: Any, training: Any, eps: Any, result1: Any,
    result2: Any, needs_input_grad: Any,
) -> Any:  # fmt: skip
    return _nn.native_batch_norm_backward(
        grad, input, weight, running_mean, running_var, result1, result2, training, eps, list(needs_input_grad)
    )


@derivative("native_batch_norm_backward", inputs=["grad_out", "input", "weight"])
def native_batch_norm_backward(
    grads: Any, grad_out: Any, input: Any, weight: Any, running_mean: Any, running_var: Any, save_invstd: Any,
    train: Any, eps: Any, output_mask: Any, needs_input_grad: Any,
) -> Any:  # fmt: skip
    """Let n be the normalized input, w the weight and, in training, P(t) = invstd (t - mean(t) - n mean(t n)), which
    equals its transpose; in evaluation P(t) = invstd t. The results of the op are w P(grad_out), and the sums of
    grad_out n and of grad_out over each channel."""
    dims = [0, *range(2, input.dim())]

    def per_channel(t: Any) -> Any:
        return t.reshape([1, -1] + [1] * (input.dim() - 2))

    def mean(t: Any) -> Any:
        return t.mean(dims, keepdim=True)

    if train:
        # invstd depends on the input, and a third derivative needs this dependence. eps is 1 / invstd^2 minus the
        # variance.
        centered = input - mean(input)
        variance = mean(centered * centered)
        invstd = (variance + (per_channel(save_invstd).to(variance.dtype) ** -2 - variance).detach()).rsqrt()
    else:
        centered = input - per_channel(running_mean)
        invstd = (per_channel(running_var) + eps).rsqrt()
    normal = centered * invstd

    def project(t: Any) -> Any:
        return invstd * (t - mean(t) - normal * mean(t * normal)) if train else invstd * t

    u, v, s = (grad if wanted else None for grad, wanted in zip(grads, output_mask, strict=True))
    v, s = (None if t is None else per_channel(t) for t in (v, s))
    w = 1 if weight is None else per_channel(weight)
    of_grad, of_input, of_weight = [], [], None
    if u is not None:
        projected = project(u)
        of_grad.append(projected * w)
        if train:
            a = grad_out * w
            through_a = project(a)
            of_input.append(
                -invstd * (mean(u * normal) * through_a + mean(a * normal) * projected + normal * mean(u * through_a))
            )
        of_weight = (grad_out * projected).sum(dims)
    if v is not None:
        of_grad.append(v * normal)
        of_input.append(project(v * grad_out))
    if s is not None:
        of_grad.append(s.expand(grad_out.shape))
    totals = [sum(terms[1:], terms[0]) if terms else None for terms in (of_grad, of_input)]
    results = (*totals, of_weight)
    return tuple(result if needed else None for result, needed in zip(results, needs_input_grad, strict=True))
