"""The docs of reading and writing at the indices of one dimension.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "index_select",
    """
Return the slices of ``input`` along ``dim`` at the positions in ``index``.

Args:
    index: a vector of integers.

Shape: the shape of ``input`` but the size at ``dim`` is the length of ``index``.

Raises:
    IndexError: an index is out of range.

Example:
    >>> torch.index_select(torch.tensor([[1, 2], [3, 4], [5, 6]]), 0, torch.tensor([2, 0]))
    tensor([[5, 6],
            [1, 2]])
""",
)

add_docstr(
    "index_add",
    """
Add slices of ``source`` to the slices of ``input`` at the positions in ``index``. A position that occurs twice receives
both slices.

Args:
    index: a vector of integers.
    source: its size at ``dim`` is the length of ``index``.
    alpha: the factor of ``source``.

Shape: the shape of ``input``.

Example:
    >>> torch.index_add(torch.zeros(3), 0, torch.tensor([0, 0]), torch.tensor([1.0, 2.0]))
    tensor([3., 0., 0.])
""",
)

add_docstr(
    "index_reduce",
    """
Reduce slices of ``source`` into the slices of ``input`` at the positions in ``index``.

Args:
    index: a vector of integers.
    reduce: "prod", "mean", "amax" or "amin".
    include_self: include the elements of ``input`` in the reduction.

Shape: the shape of ``input``.

Example:
    >>> torch.index_reduce(torch.ones(3), 0, torch.tensor([0, 0]), torch.tensor([3.0, 2.0]), "amax")
    tensor([3., 1., 1.])
""",
)

add_docstr(
    "index_copy",
    """
Replace the slices of ``input`` at the positions in ``index`` by slices of ``source``.

Args:
    index: a vector of integers.

Shape: the shape of ``input``.

Example:
    >>> torch.index_copy(torch.zeros(3), 0, torch.tensor([2, 0]), torch.tensor([1.0, 2.0]))
    tensor([2., 0., 1.])
""",
)

add_docstr(
    "index_fill",
    """
Set the slices of ``input`` at the positions in ``index`` to ``value``.

Args:
    index: a vector of integers.
    value: a number, or a tensor without dimensions.

Shape: the shape of ``input``.

Example:
    >>> torch.index_fill(torch.zeros(3), 0, torch.tensor([2, 0]), 7)
    tensor([7., 0., 7.])
""",
)

add_docstr(
    "take",
    """
Return elements by their position in the flattened tensor.

Args:
    index: integers; negative ones count from the end.

Shape: the shape of ``index``.

Raises:
    IndexError: an index is out of range.

Example:
    >>> torch.take(torch.tensor([[10, 20], [30, 40]]), torch.tensor([0, 3]))
    tensor([10, 40])
""",
)

add_docstr(
    "put",
    """
Set elements by their position in the flattened tensor.

Args:
    index: integers.
    source: a tensor with as many elements as ``index``.
    accumulate: add ``source`` to the elements instead of replacing them.

Shape: the shape of ``input``.

Example:
    >>> torch.put(torch.zeros(2, 2), torch.tensor([0, 3]), torch.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
""",
)

add_docstr(
    "take_along_dim",
    """
Return elements along ``dim`` by index, as :func:`gather` does, but broadcast the arguments first.

Args:
    indices: integers, for example the result of :func:`argmax` or :func:`argsort`.
    dim: the dimension; without ``dim``, both tensors are flattened.

Shape: broadcast(``input``, ``indices``), but the size at ``dim`` is that of ``indices``.

Example:
    >>> x = torch.tensor([[10, 30, 20]])
    >>> torch.take_along_dim(x, torch.argsort(x, dim=1), dim=1)
    tensor([[10, 20, 30]])
""",
)
