"""The fused step of stochastic gradient descent.

Mirrors: nothing in PyTorch: there this op has no docs
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "_fused_sgd_",
    """
Do one step of stochastic gradient descent for a list of parameters, in one call.

This is what ``torch.optim.SGD(..., fused=True)`` calls; the formulas are there.

Args:
    input: the parameters, which change in place.
    grads: their gradients; ``grad_scale`` divides them in place.
    momentum_buffer_list: their momentum buffers, which change in place; an empty list without momentum.
    weight_decay, momentum, lr, dampening, nesterov, maximize: the options; ``lr`` may be a tensor of one element.
    is_first_step: whether the buffers have no values yet, so that the gradients become their values.
    grad_scale: None, or a tensor of one element by which the gradients are divided first.
    found_inf: None, or a tensor of one element; if the element is 1, nothing changes.

Shape: a buffer and a gradient have the shape of their parameter.

Raises:
    RuntimeError: the lists are empty, or tensors that belong together differ in shape, dtype or device.

Example:
    >>> p, g = [torch.ones(2)], [torch.tensor([1.0, -1.0])]
    >>> options = {"weight_decay": 0.0, "momentum": 0.0, "dampening": 0.0, "nesterov": False, "maximize": False}
    >>> _ = torch._fused_sgd_(p, g, [], lr=0.5, is_first_step=False, **options)
    >>> p
    [tensor([0.5000, 1.5000])]
""",
)
