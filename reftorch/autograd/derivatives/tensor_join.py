"""Derivatives of joining tensors.

Mirrors: tools/autograd/derivatives.yaml (cat, stack, repeat), torch/csrc/autograd/FunctionsManual.cpp
Leaves out: complex numbers.
"""

from reftorch.autograd.derivatives import derivative

# --- several parts ----------------------------------------------------------------------------------------------------


@derivative("cat", inputs=["tensors"], result="auto_linear")
def cat(grad, tensors_sizes, dim, needs_input_grad):
    start, grads = 0, []
    for sizes, needed in zip(tensors_sizes, needs_input_grad[0], strict=True):
        if len(sizes) != grad.dim():  # cat ignores an empty tensor of one dimension
            grads.append(grad.new_zeros(sizes) if needed else None)
            continue
        grads.append(grad.narrow(dim, start, sizes[dim]) if needed else None)
        start += sizes[dim]
    return (grads,)


@derivative("stack", inputs=["tensors"], result="auto_linear")
def stack(grad, dim):
    return (grad.unbind(dim),)


# --- repetition -------------------------------------------------------------------------------------------------------


def _repeat_backward(grad, self_sizes, repeats):
    leading = len(repeats) - len(self_sizes)
    sizes = [1] * leading + list(self_sizes)
    split = [n for pair in zip(repeats, sizes, strict=True) for n in pair]
    if not split:
        return grad
    return grad.reshape(split).sum(list(range(0, len(split), 2))).reshape(self_sizes)


derivative("repeat", self=_repeat_backward, result="auto_linear")
