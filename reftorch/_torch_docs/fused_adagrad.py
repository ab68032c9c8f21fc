"""The fused step of Adagrad.

Mirrors: nothing in PyTorch: there this op has no docs
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "_fused_adagrad_",
    """
Do one step of Adagrad for a list of parameters, in one call.

This is what ``torch.optim.Adagrad(..., fused=True)`` calls; the formulas are there.

Args:
    input: the parameters, which change in place.
    grads: their gradients; ``grad_scale`` divides them in place.
    state_sums: the sums of the squared gradients, which change in place.
    state_steps: the number of each parameter's step, a tensor of one element; the first step has number 1.
    lr, lr_decay, weight_decay, eps, maximize: the options; ``lr`` may be a tensor of one element.
    grad_scale: None, or a tensor of one element by which the gradients are divided first.
    found_inf: None, or a tensor of one element; if the element is 1, nothing changes.

Shape: a gradient and the sums have the shape of their parameter.

Raises:
    RuntimeError: the lists are empty, or tensors that belong together differ in shape, dtype or device.

Example:
    >>> p, g, sums = [torch.ones(2)], [torch.tensor([4.0, -2.0])], [torch.zeros(2)]
    >>> options = {"lr_decay": 0.0, "weight_decay": 0.0, "eps": 0.0, "maximize": False}
    >>> _ = torch._fused_adagrad_(p, g, sums, [torch.tensor(1.0)], lr=0.5, **options)
    >>> p, sums
    ([tensor([0.5000, 1.5000])], [tensor([16.,  4.])])
""",
)
