"""The fused steps of Adam and AdamW.

Mirrors: nothing in PyTorch: there these ops have no docs
"""

from reftorch._torch_docs._entries import add_docstr


def _fused(name: str, rule: str, result: str) -> None:
    add_docstr(
        name,
        f"""
Do one step of {rule} for a list of parameters, in one call.

This is what ``torch.optim.{rule}(..., fused=True)`` calls; the formulas are there.

Args:
    input: the parameters, which change in place.
    grads: their gradients; ``grad_scale`` divides them in place.
    exp_avgs: the means of the gradients, which change in place.
    exp_avg_sqs: the means of the squared gradients, which change in place.
    max_exp_avg_sqs: the largest means of the squared gradients; an empty list without ``amsgrad``.
    state_steps: the number of each parameter's step, a tensor of one element; the first step has number 1.
    lr, beta1, beta2, weight_decay, eps, amsgrad, maximize: the options; ``lr`` may be a tensor of one element.
    grad_scale: None, or a tensor of one element by which the gradients are divided first.
    found_inf: None, or a tensor of one element; if the element is 1, nothing changes.

Shape: a gradient and the means have the shape of their parameter.

Raises:
    RuntimeError: the lists are empty, or tensors that belong together differ in shape, dtype or device.

Example:
    >>> p, g, m, v = ([torch.full((2,), value)] for value in (1.0, -4.0, 0.0, 0.0))
    >>> options = {{"beta1": 0.9, "beta2": 0.99, "weight_decay": 0.5, "eps": 0.0, "amsgrad": False, "maximize": False}}
    >>> _ = torch.{name}(p, g, m, v, [], [torch.tensor(1.0)], lr=0.5, **options)
    >>> p
    [{result}]
""",
    )


_fused("_fused_adam_", "Adam", "tensor([1.5000, 1.5000])")
_fused("_fused_adamw_", "AdamW", "tensor([1.2500, 1.2500])")
