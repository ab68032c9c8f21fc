"""Derivatives of convolutions.

Mirrors: tools/autograd/derivatives.yaml (convolution_overrideable, convolution_backward, conv_tbc),
aten/src/ATen/native/Convolution.cpp (_convolution_double_backward), ConvolutionTBC.cpp
Leaves out: complex numbers.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_torch = _C._VariableFunctions


@derivative("convolution", inputs=["input", "weight", "bias"])
def convolution(
    grad: Any, input: Any, weight: Any, stride: Any, padding: Any, dilation: Any, transposed: Any, output_padding: Any,
    groups: Any, needs_input_grad: Any,
) -> Any:  # fmt: skip
    return _torch.convolution_backward(
        grad, input, weight, [grad.size(1)] if needs_input_grad[2] else None, stride, padding, dilation, transposed,
        output_padding, groups, list(needs_input_grad),
    )  # fmt: skip


@derivative("convolution_backward", inputs=["grad_output", "input", "weight"])
def convolution_backward(
    grads: Any, grad_output: Any, input: Any, weight: Any, stride: Any, padding: Any, dilation: Any, transposed: Any,
    output_padding: Any, groups: Any, output_mask: Any, needs_input_grad: Any,
) -> Any:  # fmt: skip
    """The op returns the derivatives of T(g, x, w) = <g, convolution(x, w)> by x and w, and the sums of g. Let u, v and
    s be the gradients of these three results. T is linear in each argument, so the op's gradients are those of
    T(g, u, w) + T(g, x, v) + <g, s>."""
    shape = (stride, padding, dilation, transposed, output_padding, groups)
    u, v, s = (g if wanted else None for g, wanted in zip(grads, output_mask, strict=True))
    result: list[Any] = [None, None, None]
    if needs_input_grad[0]:
        terms = []
        if u is not None:
            terms.append(_torch.convolution(u, weight, s, *shape))
        if v is not None:
            terms.append(_torch.convolution(input, v, None if u is not None else s, *shape))
        if not terms and s is not None:
            terms.append(s.reshape([-1] + [1] * (input.dim() - 2)).expand(grad_output.shape))
        result[0] = sum(terms[1:], terms[0]) if terms else None
    if needs_input_grad[1] and v is not None:
        result[1] = _torch.convolution_backward(grad_output, input, v, None, *shape, [True, False, False])[0]
    if needs_input_grad[2] and u is not None:
        result[2] = _torch.convolution_backward(grad_output, u, weight, None, *shape, [False, True, False])[1]
    return tuple(result)


@derivative("conv_tbc", inputs=["self", "weight", "bias"])
def conv_tbc(grad: Any, self: Any, weight: Any, bias_sizes: Any, pad: int, needs_input_grad: Any) -> Any:
    """grad: (T', B, F), self: (T, B, C), weight: (K, C, F). Tap k of the kernel multiplied the steps of self from
    ``start`` on, and its products went into the steps of the result from ``to`` on: ``count`` of them, or none."""
    of_self: Any = self.new_zeros(self.shape)
    of_weight = []
    for k in range(weight.size(0)):
        start, to = max(k - pad, 0), max(pad - k, 0)
        count = min(self.size(0) + pad - k, grad.size(0)) - to
        if count <= 0:
            of_weight.append(weight.new_zeros(weight.shape[1:]))
            continue
        taken, part = self.narrow(0, start, count), grad.narrow(0, to, count)
        if needs_input_grad[0]:
            products = part.matmul(weight.select(0, k).t())
            of_self = of_self + _torch.constant_pad_nd(products, [0, 0, 0, 0, start, self.size(0) - start - count])
        if needs_input_grad[1]:
            of_weight.append(taken.flatten(0, 1).t().matmul(part.flatten(0, 1)))
    return (
        of_self if needs_input_grad[0] else None,
        (_torch.stack(of_weight) if of_weight else weight.new_zeros(weight.shape)) if needs_input_grad[1] else None,
        grad.sum((0, 1)) if needs_input_grad[2] else None,
    )
