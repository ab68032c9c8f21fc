"""The docs of the nonlinear functions of networks.

Their public names are in ``torch.nn.functional``, whose docstrings give details.

Mirrors: torch/nn/functional.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

_FUNCTIONS = {
    "leaky_relu": (
        r"Multiply negative elements by a slope: :math:`\max(0, x) + a \min(0, x)`.",
        {"negative_slope": ":math:`a`."},
        ">>> torch._C._nn.leaky_relu(torch.tensor([-1.0, 2.0]), 0.1)\n    tensor([-0.1000,  2.0000])",
    ),
    "hardtanh": (
        "Clamp each element between two bounds. The gradient is 0 at the bounds and beyond them.",
        {"min_val": "lower bound.", "max_val": "upper bound."},
        ">>> torch._C._nn.hardtanh(torch.tensor([-3.0, 0.5]))\n    tensor([-1.0000,  0.5000])",
    ),
    "relu6": (
        r"Clamp each element between 0 and 6: :math:`\min(\max(0, x), 6)`.",
        {},
        ">>> torch._C._nn.relu6(torch.tensor([-1.0, 2.0, 8.0]))\n    tensor([0., 2., 6.])",
    ),
    "hardsigmoid": (
        r"Approximate the sigmoid by three straight lines: :math:`\min(\max(0, x + 3), 6) / 6`.",
        {},
        ">>> torch._C._nn.hardsigmoid(torch.tensor([-4.0, 0.0, 1.5]))\n    tensor([0.0000, 0.5000, 0.7500])",
    ),
    "hardswish": (
        r"Multiply each element by its hardsigmoid: :math:`x \min(\max(0, x + 3), 6) / 6`.",
        {},
        ">>> torch._C._nn.hardswish(torch.tensor([-1.0, 2.0]))\n    tensor([-0.3333,  1.6667])",
    ),
    "hardshrink": (
        r"Set elements between :math:`-\lambda` and :math:`\lambda` to zero.",
        {"lambd": r":math:`\lambda`."},
        ">>> torch.hardshrink(torch.tensor([-1.0, 0.25, 2.0]))\n    tensor([-1.,  0.,  2.])",
    ),
    "softshrink": (
        r"Move each element towards zero by :math:`\lambda`, but not past zero.",
        {"lambd": r":math:`\lambda`, not negative."},
        ">>> torch._C._nn.softshrink(torch.tensor([-1.0, 0.25, 2.0]))\n    tensor([-0.5000,  0.0000,  1.5000])",
    ),
    "gelu": (
        r"Multiply each element by the distribution function of the normal distribution: :math:`x \Phi(x)`.",
        {"approximate": "'none', or 'tanh' for an approximation with the hyperbolic tangent."},
        ">>> torch._C._nn.gelu(torch.tensor([-1.0, 2.0]))\n    tensor([-0.1587,  1.9545])",
    ),
    "elu": (
        r"Return :math:`s x` above zero, and :math:`s \alpha (e^{i x} - 1)` below.",
        {"alpha": r":math:`\alpha`.", "scale": ":math:`s`.", "input_scale": ":math:`i`."},
        ">>> torch._C._nn.elu(torch.tensor([-1.0, 2.0]))\n    tensor([-0.6321,  2.0000])",
    ),
    "celu": (
        r"Return :math:`x` above zero, and :math:`\alpha (e^{x / \alpha} - 1)` below.",
        {"alpha": r":math:`\alpha`, not 0."},
        ">>> torch.celu(torch.tensor([-1.0, 2.0]), alpha=2.0)\n    tensor([-0.7869,  2.0000])",
    ),
    "selu": (
        "Apply an elu that preserves mean 0 and variance 1.",
        {},
        ">>> torch.selu(torch.tensor([-1.0, 2.0]))\n    tensor([-1.1113,  2.1014])",
    ),
    "silu": (
        r"Multiply each element by its sigmoid: :math:`x \sigma(x)`.",
        {},
        ">>> torch._C._nn.silu(torch.tensor([-1.0, 2.0]))\n    tensor([-0.2689,  1.7616])",
    ),
    "mish": (
        r"Multiply each element by a bounded function of that element: :math:`x \tanh(\mathrm{softplus}(x))`.",
        {},
        ">>> torch._C._nn.mish(torch.tensor([-1.0, 2.0]))\n    tensor([-0.3034,  1.9440])",
    ),
    "softplus": (
        r"Return a smooth relu: :math:`\log(1 + e^{\beta x}) / \beta`.",
        {"beta": r":math:`\beta`.", "threshold": r"if :math:`\beta x` is larger, the result is :math:`x`."},
        ">>> torch._C._nn.softplus(torch.tensor([-1.0, 2.0]))\n    tensor([0.3133, 2.1269])",
    ),
    "log_sigmoid": (
        r"Return the logarithm of the sigmoid: :math:`\min(0, x) - \log(1 + e^{-|x|})`.",
        {},
        ">>> torch._C._nn.log_sigmoid(torch.tensor([-1.0, 2.0]))\n    tensor([-1.3133, -0.1269])",
    ),
    "log_sigmoid_forward": (
        r"Return the logarithm of the sigmoid, and :math:`e^{-|x|}`, which its gradient needs.",
        {},
        ">>> torch._C._nn.log_sigmoid_forward(torch.tensor([0.0]))[1]\n    tensor([1.])",
    ),
}

_BACKWARDS = {
    "leaky_relu": "torch.ones(2), torch.tensor([-1.0, 2.0]), 0.1, False)\n    tensor([0.1000, 1.0000])",
    "hardtanh": "torch.ones(2), torch.tensor([-3.0, 0.5]), -1, 1)\n    tensor([0., 1.])",
    "hardsigmoid": "torch.ones(2), torch.tensor([-4.0, 0.0]))\n    tensor([0.0000, 0.1667])",
    "hardswish": "torch.ones(3), torch.tensor([-4.0, 0.0, 4.0]))\n    tensor([0.0000, 0.5000, 1.0000])",
    "hardshrink": "torch.ones(2), torch.tensor([0.25, 2.0]), 0.5)\n    tensor([0., 1.])",
    "softshrink": "torch.ones(2), torch.tensor([0.25, 2.0]), 0.5)\n    tensor([0., 1.])",
    "gelu": "torch.ones(1), torch.tensor([0.0]))\n    tensor([0.5000])",
    "elu": "torch.ones(2), 1, 1, 1, False, torch.tensor([-1.0, 2.0]))\n    tensor([0.3679, 1.0000])",
    "silu": "torch.ones(1), torch.tensor([0.0]))\n    tensor([0.5000])",
    "mish": "torch.ones(1), torch.tensor([0.0]))\n    tensor([0.6000])",
    "softplus": "torch.ones(1), torch.tensor([0.0]), 1, 20)\n    tensor([0.5000])",
    "log_sigmoid": "torch.ones(1), torch.tensor([0.0]), torch.tensor([1.0]))\n    tensor([0.5000])",
}

for _name, (_meaning, _args, _example) in _FUNCTIONS.items():
    _lines = "".join(f"    {arg}: {what}\n" for arg, what in _args.items())
    _section = f"Args:\n{_lines}\n" if _lines else ""
    add_docstr(_name, f"\n{_meaning}\n\n{_section}Shape: the shape of ``input``.\n\nExample:\n    {_example}\n")

for _name, _example in _BACKWARDS.items():
    add_docstr(
        f"{_name}_backward",
        f"\nReturn the gradient of :func:`{_name}` for ``input``.\n\nShape: broadcast(``grad_output``, ``input``).\n\n"
        f"Example:\n    >>> torch._C._nn.{_name}_backward({_example}\n",
    )

add_docstr(
    "prelu",
    r"""
Multiply negative elements by a weight that can be learned: :math:`\max(0, x) + w \min(0, x)`.

Args:
    weight: one number for all elements, or one number for each channel. The channels are the second dimension.

Shape: the shape of ``input``.

Raises:
    RuntimeError: the number of weights is neither 1 nor the number of channels, or the dtypes differ.

Example:
    >>> torch.prelu(torch.tensor([-2.0, 3.0]), torch.tensor([0.1]))
    tensor([-0.2000,  3.0000])
""",
)

add_docstr(
    "relu",
    r"""
Return each positive element, and 0 in place of the others: :math:`\max(x, 0)`.

Shape: the shape of ``input``.

Example:
    >>> torch.relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
""",
)

add_docstr(
    "threshold",
    """
Return each element that is above a threshold, and ``value`` in place of the others.

Args:
    threshold: a number.
    value: a number.

Shape: the shape of ``input``.

Example:
    >>> torch.threshold(torch.tensor([0.1, 2.0]), 0.5, 9.0)
    tensor([9., 2.])
""",
)

add_docstr(
    "threshold_backward",
    """
Return the gradient of a threshold: ``grad_output`` where ``input`` is above ``threshold``, 0 elsewhere.

Shape: broadcast(``grad_output``, ``input``).

Example:
    >>> torch.threshold_backward(torch.ones(3), torch.tensor([-1.0, 0.0, 1.0]), 0)
    tensor([0., 0., 1.])
""",
)

add_docstr(
    "_prelu_kernel",
    r"""
Return :math:`x` where it is positive, and :math:`w x` elsewhere: the op of :func:`prelu`, whose weight broadcasts.

Args:
    weight: :math:`w`, which broadcasts to the shape of ``input``.

Shape: the shape of ``input``.

Example:
    >>> torch._prelu_kernel(torch.tensor([-2.0, 3.0]), torch.tensor([0.1]))
    tensor([-0.2000,  3.0000])
""",
)

add_docstr(
    "_prelu_kernel_backward",
    """
Return the gradients of :func:`_prelu_kernel` for ``input`` and for its weight, the latter before it is summed.

Shape: both have the shape of ``input``.

Example:
    >>> torch.ops.aten._prelu_kernel_backward(torch.ones(2), torch.tensor([-2.0, 3.0]), torch.tensor([0.1]))
    (tensor([0.1000, 1.0000]), tensor([-2.,  0.]))
""",
)

add_docstr(
    "rrelu",
    r"""
Multiply negative elements by a random slope: :math:`\max(0, x) + a \min(0, x)`.

Args:
    lower: the lower bound of :math:`a`.
    upper: the upper bound of :math:`a`.
    training: whether to draw :math:`a` for each element; otherwise it is the mean of its bounds.

Shape: the shape of ``input``.

Raises:
    RuntimeError: ``lower > upper``.

Example:
    >>> torch.rrelu(torch.tensor([-8.0, 1.0]), 0.25, 0.75)
    tensor([-4.,  1.])
""",
)

add_docstr(
    "rrelu_with_noise",
    """
Return :func:`rrelu`, and write the slopes to ``noise`` if they are drawn: backward reads them.

Args:
    noise: a tensor of the shape and dtype of ``input``, which gets the slopes.
    lower: the lower bound of the slopes.
    upper: the upper bound of the slopes.
    training: whether to draw the slopes.

Shape: the shape of ``input``.

Raises:
    RuntimeError: ``noise`` has another shape.

Example:
    >>> x = torch.tensor([-8.0, 1.0])
    >>> noise = torch.empty(2)
    >>> torch._C._nn.rrelu_with_noise(x, noise, 0.5, 0.5, True)
    tensor([-4.,  1.])
    >>> noise
    tensor([0.5000, 1.0000])
""",
)

add_docstr(
    "rrelu_with_noise_backward",
    """
Return the gradient of :func:`rrelu_with_noise` for ``input``.

Shape: the shape of ``input``.

Example:
    >>> x, noise = torch.tensor([-8.0, 1.0]), torch.tensor([0.5, 1.0])
    >>> torch.ops.aten.rrelu_with_noise_backward(torch.ones(2), x, noise, 0.25, 0.75, True, False)
    tensor([0.5000, 1.0000])
""",
)
