"""Slices and diagonals: reading them, replacing them, and their gradients.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "select",
    """
Return the slice at ``index``, without the dimension ``dim``: ``x[index]`` for ``dim`` = 0.

Shape: the shape of ``input`` without ``dim``; the result is a view of it.

Raises:
    IndexError: the index is out of range.

Example:
    >>> torch.select(torch.tensor([[1, 2], [3, 4]]), 1, 0)
    tensor([1, 3])
""",
)

add_docstr(
    "slice",
    """
Return the part from ``start`` to ``end`` along ``dim``. The expression ``x[start:end:step]`` calls this op.

Args:
    step: the distance between the elements that are taken; positive.

Shape: the shape of ``input``, with the length of the slice at ``dim``; the result is a view of ``input``.

Example:
    >>> torch.slice(torch.tensor([0, 1, 2, 3]), 0, 1, 3)
    tensor([1, 2])
""",
)

add_docstr(
    "narrow",
    """
Return ``length`` slices from ``start`` on.

Args:
    start: an index, or a tensor without dimensions that holds an index.

Shape: the shape of ``input`` with ``length`` at ``dim``; the result is a view of it.

Raises:
    RuntimeError: the part reaches past the end of the dimension.

Example:
    >>> torch.narrow(torch.tensor([0, 1, 2, 3]), 0, 1, 2)
    tensor([1, 2])
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
    "diagonal",
    """
Return a diagonal of each matrix that ``dim1`` and ``dim2`` span, as the last dimension.

Args:
    offset: the diagonal: 0 is the main diagonal, positive numbers are above it, negative ones below it.

Shape: the shape of ``input`` without both dimensions, then the length of the diagonal; the result is a view of it.

Example:
    >>> torch.diagonal(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
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

add_docstr(
    "select_backward",
    """
Return the gradient of :func:`select`: zeros of shape ``input_sizes``, with ``grad_output`` at ``index``.

Shape: ``input_sizes``.

Example:
    >>> torch.select_backward(torch.ones(2), [2, 2], 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
""",
)

add_docstr(
    "slice_backward",
    """
Return the gradient of a slice: zeros of shape ``input_sizes``, with ``grad_output`` in the slice.

Shape: ``input_sizes``.

Example:
    >>> torch.slice_backward(torch.ones(2), [4], 0, 1, 3, 1)
    tensor([0., 1., 1., 0.])
""",
)

add_docstr(
    "diagonal_backward",
    """
Return the gradient of :func:`diagonal`: zeros of shape ``input_sizes``, with ``grad_output`` on the diagonal.

Shape: ``input_sizes``.

Example:
    >>> torch.diagonal_backward(torch.ones(2), [2, 2], 0, 0, 1)
    tensor([[1., 0.],
            [0., 1.]])
""",
)

add_docstr(
    "unfold_backward",
    """
Return the gradient of ``unfold``: each element receives the sum over the windows that contain the element.

Shape: ``input_sizes``.

Example:
    >>> torch.unfold_backward(torch.ones(2, 2), [3], 0, 2, 1)
    tensor([1., 2., 1.])
""",
)
