"""The gated linear unit.

Mirrors: torch/nn/functional.py (glu)
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "glu",
    r"""
Multiply one half of a tensor by the sigmoid of the other half. The public name is ``torch.nn.functional.glu``.

Args:
    dim: the dimension that is halved.

Shape: the shape of ``input`` with half the size along ``dim``.

Raises:
    RuntimeError: the size along ``dim`` is odd, or ``input`` has no dimension.

Example:
    >>> torch._C._nn.glu(torch.tensor([1.0, 2.0, 0.0, 0.0]))
    tensor([0.5000, 1.0000])
""",
)
add_docstr(
    "glu_backward",
    r"""
Return the gradient of :func:`glu`, from the gradient of its result and its input.

Shape: the shape of ``input``, the tensor whose halves are multiplied.

Example:
    >>> torch.ops.aten.glu_backward(torch.tensor([1.0]), torch.tensor([2.0, 0.0]), 0)
    tensor([0.5000, 0.5000])
""",
)
