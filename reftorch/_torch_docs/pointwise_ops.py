"""The docs of functions of three tensors, element by element.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "addcmul",
    r"""
Add a product: :math:`input + value \cdot tensor1 \cdot tensor2`.

Args:
    value: the factor of the product.

Shape: broadcast(``input``, ``tensor1``, ``tensor2``).

Example:
    >>> torch.addcmul(torch.zeros(2), torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]), value=10)
    tensor([30., 80.])
""",
)

add_docstr(
    "addcdiv",
    r"""
Add a quotient: :math:`input + value \cdot tensor1 / tensor2`.

Args:
    value: the factor of the quotient.

Shape: broadcast(``input``, ``tensor1``, ``tensor2``).

Raises:
    RuntimeError: ``tensor1`` and ``tensor2`` have integer dtypes.

Example:
    >>> torch.addcdiv(torch.zeros(2), torch.tensor([1.0, 6.0]), torch.tensor([2.0, 4.0]), value=10)
    tensor([ 5., 15.])
""",
)

add_docstr(
    "lerp",
    r"""
Interpolate linearly between ``input`` and ``end``: :math:`input + weight \cdot (end - input)`.

Args:
    weight: a tensor, or a number; 0 gives ``input``, 1 gives ``end``.

Shape: broadcast(``input``, ``end``, ``weight``).

Raises:
    RuntimeError: the dtypes differ.

Example:
    >>> torch.lerp(torch.tensor([0.0, 10.0]), torch.tensor([10.0, 20.0]), 0.25)
    tensor([ 2.5000, 12.5000])
""",
)
