"""The docs of parts of a tensor: slices, diagonals, pieces.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "unbind",
    """
Return views of all slices along ``dim``, as a tuple.

Shape: the shape of ``input`` without ``dim``, for each.

Example:
    >>> torch.unbind(torch.tensor([[1, 2], [3, 4]]))
    (tensor([1, 2]), tensor([3, 4]))
""",
)

add_docstr(
    "split",
    """
Split along ``dim`` into parts of ``split_size`` (the last may be smaller), or of given sizes.

Args:
    split_size: an int, or a list of sizes that add up to the size of ``dim``.

Shape: views of ``input``.

Example:
    >>> torch.split(torch.arange(5), 2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
""",
)

add_docstr(
    "split_with_sizes",
    """
Split along ``dim`` into parts of given sizes.

Args:
    split_sizes: the sizes of the parts, which add up to the size of ``dim``.

Shape: views of ``input``.

Example:
    >>> torch.split_with_sizes(torch.arange(3), [1, 2])
    (tensor([0]), tensor([1, 2]))
""",
)

add_docstr(
    "chunk",
    """
Split along ``dim`` into at most ``chunks`` parts of equal size (the last may be smaller).

Shape: views of ``input``.

Example:
    >>> torch.chunk(torch.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
""",
)

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
