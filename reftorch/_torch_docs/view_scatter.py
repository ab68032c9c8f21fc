"""The docs of copies of a tensor with a part replaced.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "fill_diagonal_",
    """
Set the elements of the main diagonal to ``fill_value``.

Args:
    wrap: in a matrix with more rows than columns, start the diagonal again below its end.

Shape: the shape of the tensor, which is returned; two dimensions, or more dimensions of equal size.

Example:
    >>> torch.zeros(2, 2).fill_diagonal_(1)
    tensor([[1., 0.],
            [0., 1.]])
""",
)

add_docstr(
    "narrow_copy",
    """
Return a copy of ``length`` slices from ``start`` on.

Shape: the shape of ``input`` with ``length`` at ``dim``.

Example:
    >>> torch.narrow_copy(torch.tensor([0, 1, 2, 3]), 0, 1, 2)
    tensor([1, 2])
""",
)

add_docstr(
    "slice_scatter",
    """
Return a copy of ``input`` in which ``src`` replaces a slice.

Args:
    src: a tensor of the shape of the slice.

Shape: the shape of ``input``.

Example:
    >>> torch.slice_scatter(torch.zeros(4), torch.ones(2), start=1, end=3)
    tensor([0., 1., 1., 0.])
""",
)

add_docstr(
    "select_scatter",
    """
Return a copy of ``input`` in which ``src`` replaces the slice at ``index`` of ``dim``.

Args:
    src: a tensor of the shape of ``input`` without ``dim``.

Shape: the shape of ``input``.

Example:
    >>> torch.select_scatter(torch.zeros(2, 2), torch.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
""",
)

add_docstr(
    "diagonal_scatter",
    """
Return a copy of ``input`` in which ``src`` replaces a diagonal.

Args:
    src: a tensor of the shape of the diagonal.
    offset: the diagonal: 0 is the main diagonal, positive numbers are above it, negative ones below it.

Shape: the shape of ``input``.

Example:
    >>> torch.diagonal_scatter(torch.zeros(2, 2), torch.ones(2))
    tensor([[1., 0.],
            [0., 1.]])
""",
)

add_docstr(
    "as_strided_scatter",
    """
Return a copy of ``input`` in which ``src`` replaces the elements that :func:`as_strided` views.

Args:
    src: a tensor of the shape ``size``.

Shape: the shape of ``input``.

Example:
    >>> torch.as_strided_scatter(torch.zeros(4), torch.ones(2), (2,), (2,))
    tensor([1., 0., 1., 0.])
""",
)
