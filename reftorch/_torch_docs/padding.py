"""The docs of borders that repeat elements.

Their public names are in ``torch.nn.functional``, whose docstrings give details.

Mirrors: torch/nn/functional.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

_PIXELS = {1: "(N, C, L)", 2: "(N, C, H, W)", 3: "(N, C, D, H, W)"}
_BORDERS = {
    "reflection": (
        "the elements mirrored at the outermost one, which is not repeated",
        {
            1: "torch._C._nn.reflection_pad1d(torch.tensor([[1, 2, 3]]), (2, 1))\n    tensor([[3, 2, 1, 2, 3, 2]])",
            2: "torch._C._nn.reflection_pad2d(torch.tensor([[[1, 2], [3, 4]]]), (1, 0, 0, 1))\n"
            "    tensor([[[2, 1, 2],\n             [4, 3, 4],\n             [2, 1, 2]]])",
            3: "torch._C._nn.reflection_pad3d(torch.tensor([[[[1, 2]], [[3, 4]]]]), (1, 0, 0, 0, 0, 0)).flatten()\n"
            "    tensor([2, 1, 2, 4, 3, 4])",
        },
        "    RuntimeError: a border reaches beyond the opposite element, or nothing is left of the tensor.",
        "[2., 4., 4.]",
    ),
    "replication": (
        "copies of the outermost element",
        {
            1: "torch._C._nn.replication_pad1d(torch.tensor([[1, 2, 3]]), (2, 1))\n    tensor([[1, 1, 1, 2, 3, 3]])",
            2: "torch._C._nn.replication_pad2d(torch.tensor([[[1, 2], [3, 4]]]), (1, 0, 0, 1))\n"
            "    tensor([[[1, 1, 2],\n             [3, 3, 4],\n             [3, 3, 4]]])",
            3: "torch._C._nn.replication_pad3d(torch.tensor([[[[1, 2]], [[3, 4]]]]), (1, 0, 0, 0, 0, 0)).flatten()\n"
            "    tensor([1, 1, 2, 3, 3, 4])",
        },
        "    RuntimeError: nothing is left of the tensor.",
        "[6., 2., 2.]",
    ),
}

for _kind, (_border, _examples, _raises, _sums) in _BORDERS.items():
    for _dims, _shape in _PIXELS.items():
        _op, _ones = f"{_kind}_pad{_dims}d", ", ".join("1" * _dims)
        add_docstr(
            _op,
            f"""
Put a border around a tensor: {_border}.

Args:
    input: tensor {_shape}, or without N.
    padding: the numbers of elements to add before and after: first of the last dimension, then of the dimension before
        it, and so on. A negative number removes elements.

Shape: the shape of ``input``, with ``padding[0] + padding[1]`` added to the last size, and so on.

Raises:
{_raises}

Example:
    >>> {_examples[_dims]}
""",
        )
        add_docstr(
            f"{_op}_backward",
            f"""
Return the gradient of :func:`{_op}` for ``input``: the sum of the gradients of all copies of an element.

Args:
    grad_output: the gradient of the result.
    input: the input of the forward call.
    padding: the argument of the forward call.

Shape: the shape of ``input``.

Raises:
    RuntimeError: the shapes do not fit.

Example:
    >>> x, grad = torch.ones({_ones}, 3), torch.full(({_ones}, 5), 2.0)
    >>> torch.ops.aten.{_op}_backward(grad, x, (2, 0{", 0, 0" * (_dims - 1)})).flatten()
    tensor({_sums})
""",
        )
