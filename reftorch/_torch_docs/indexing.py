"""Reading and writing by index: gather and scatter, masks.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "index_select",
    """
Take the slices of ``input`` at ``dim`` that ``index`` names.

Args:
    index: a vector of integers.

Shape: that of ``input`` with the length of ``index`` at ``dim``.

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
Add slices of ``source`` to those of ``input`` that ``index`` names; slices named twice get both.

Args:
    index: a vector of integers.
    source: its size at ``dim`` is the length of ``index``.
    alpha: the factor of ``source``.

Shape: that of ``input``.

Example:
    >>> torch.index_add(torch.zeros(3), 0, torch.tensor([0, 0]), torch.tensor([1.0, 2.0]))
    tensor([3., 0., 0.])
""",
)

add_docstr(
    "index_reduce",
    """
Reduce slices of ``source`` into those of ``input`` that ``index`` names.

Args:
    index: a vector of integers.
    reduce: "prod", "mean", "amax" or "amin".
    include_self: what ``input`` held counts too.

Shape: that of ``input``.

Example:
    >>> torch.index_reduce(torch.ones(3), 0, torch.tensor([0, 0]), torch.tensor([3.0, 2.0]), "amax")
    tensor([3., 1., 1.])
""",
)

add_docstr(
    "index_copy",
    """
Put slices of ``source`` in the place of those of ``input`` that ``index`` names.

Args:
    index: a vector of integers.

Shape: that of ``input``.

Example:
    >>> torch.index_copy(torch.zeros(3), 0, torch.tensor([2, 0]), torch.tensor([1.0, 2.0]))
    tensor([2., 0., 1.])
""",
)

add_docstr(
    "index_fill",
    """
Set the slices of ``input`` that ``index`` names to ``value``.

Args:
    index: a vector of integers.
    value: a number, or a tensor of no dimensions.

Shape: that of ``input``.

Example:
    >>> torch.index_fill(torch.zeros(3), 0, torch.tensor([2, 0]), 7)
    tensor([7., 0., 7.])
""",
)

add_docstr(
    "take",
    """
Take elements by their position among all elements, in order.

Args:
    index: integers; negative ones count from the end.

Shape: that of ``index``.

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
Set elements by their position among all elements, in order.

Args:
    index: integers.
    source: as many elements as ``index``.
    accumulate: add instead of setting.

Shape: that of ``input``.

Example:
    >>> torch.put(torch.zeros(2, 2), torch.tensor([0, 3]), torch.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
""",
)

add_docstr(
    "take_along_dim",
    """
Take elements along ``dim`` by index, as :func:`gather` does, but broadcast first.

Args:
    indices: what :func:`argmax` or :func:`argsort` return.
    dim: without it, elements are counted in order.

Shape: broadcast(``input``, ``indices``) but at ``dim``.

Example:
    >>> x = torch.tensor([[10, 30, 20]])
    >>> torch.take_along_dim(x, torch.argsort(x, dim=1), dim=1)
    tensor([[10, 20, 30]])
""",
)

add_docstr(
    "gather",
    """
Take elements along ``dim``: ``out[i][j] = input[index[i][j]][j]`` for ``dim`` = 0.

Args:
    index: integers, of as many dimensions as ``input``.
    sparse_grad: has no effect: there are no sparse tensors.

Shape: that of ``index``.

Raises:
    RuntimeError: an index is out of range.

Example:
    >>> torch.gather(torch.tensor([[1, 2], [3, 4]]), 1, torch.tensor([[0, 0], [1, 0]]))
    tensor([[1, 1],
            [4, 3]])
""",
)

add_docstr(
    "scatter",
    """
Put elements along ``dim``: ``out[index[i][j]][j] = src[i][j]`` for ``dim`` = 0.

Args:
    index: integers, of as many dimensions as ``input``.
    src: a tensor, or with ``value`` a number.
    reduce: "add" or "multiply" combine instead of setting.

Shape: that of ``input``.

Raises:
    RuntimeError: an index is out of range.

Example:
    >>> torch.scatter(torch.zeros(2, 3), 1, torch.tensor([[2], [0]]), 1.0)
    tensor([[0., 0., 1.],
            [1., 0., 0.]])
""",
)

add_docstr(
    "scatter_add",
    """
Add elements along ``dim``: ``out[index[i][j]][j] += src[i][j]`` for ``dim`` = 0.

Args:
    index: integers, of as many dimensions as ``input``.

Shape: that of ``input``.

Example:
    >>> torch.scatter_add(torch.zeros(3), 0, torch.tensor([0, 0, 2]), torch.tensor([1.0, 2.0, 3.0]))
    tensor([3., 0., 3.])
""",
)

add_docstr(
    "scatter_reduce",
    """
Reduce elements along ``dim`` into the places that ``index`` names.

Args:
    index: integers, of as many dimensions as ``input``.
    reduce: "sum", "prod", "mean", "amax" or "amin".
    include_self: what ``input`` held counts too.

Shape: that of ``input``.

Example:
    >>> torch.scatter_reduce(torch.zeros(3), 0, torch.tensor([0, 0, 2]), torch.tensor([1.0, 2.0, 3.0]), "amax")
    tensor([2., 0., 3.])
""",
)

add_docstr(
    "masked_fill",
    """
Set the elements to ``value`` where ``mask`` holds.

Args:
    mask: a tensor of bools, whose shape broadcasts with that of ``input``.
    value: a number, or a tensor of no dimensions.

Shape: broadcast(``input``, ``mask``).

Example:
    >>> torch.masked_fill(torch.tensor([1.0, 2.0]), torch.tensor([True, False]), 0)
    tensor([0., 2.])
""",
)

add_docstr(
    "masked_select",
    """
Take the elements where ``mask`` holds, in order.

Args:
    mask: a tensor of bools.

Shape: broadcast(``input``, ``mask``) -> (count,).

Example:
    >>> torch.masked_select(torch.tensor([1, 2, 3]), torch.tensor([True, False, True]))
    tensor([1, 3])
""",
)

add_docstr(
    "masked_scatter",
    """
Put the elements of ``source``, in order, where ``mask`` holds.

Args:
    mask: a tensor of bools.
    source: at least as many elements as there are places.

Shape: broadcast(``input``, ``mask``).

Raises:
    RuntimeError: ``source`` has too few elements.

Example:
    >>> torch.masked_scatter(torch.zeros(3), torch.tensor([True, False, True]), torch.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])
""",
)

add_docstr(
    "index",
    """
Read by a list of index tensors: what ``x[i, j]`` calls where the subscripts are tensors.

Args:
    indices: a tensor of integers or bools for each dimension, or None.

Shape: the broadcast shape of the indices, in the place of their dimensions.

Raises:
    IndexError: an index is out of range.

Example:
    >>> torch.index(torch.tensor([10, 20, 30]), [torch.tensor([2, 0])])
    tensor([30, 10])
""",
)

add_docstr(
    "index_put",
    """
Write by a list of index tensors: a copy of ``input`` after ``x[i, j] = values``.

Args:
    indices: a tensor of integers or bools for each dimension.
    values: broadcast to the places.
    accumulate: add instead of setting.

Shape: that of ``input``.

Example:
    >>> torch.index_put(torch.zeros(3), (torch.tensor([2, 0]),), torch.tensor(7.0))
    tensor([7., 0., 7.])
""",
)

add_docstr(
    "nonzero",
    """
Return the coordinates of the elements that are not zero, in order.

Shape: any of n dimensions -> (count, n), of int64.

Example:
    >>> torch.nonzero(torch.tensor([[0, 1], [2, 0]]))
    tensor([[0, 1],
            [1, 0]])
""",
)

add_docstr(
    "nonzero_numpy",
    """
Return the coordinates of the elements that are not zero, as one vector for each dimension.

Shape: any of n dimensions -> n of (count,), of int64.

Example:
    >>> torch.nonzero(torch.tensor([[0, 1], [2, 0]]), as_tuple=True)
    (tensor([0, 1]), tensor([1, 0]))
""",
)

add_docstr(
    "nonzero_static",
    """
Return the coordinates of the elements that are not zero, in a number of rows that is known beforehand.

Args:
    size: how many rows; further coordinates are left out.
    fill_value: what stands in the rows that are left over.

Shape: any of n dimensions -> (``size``, n), of int64.

Raises:
    RuntimeError: ``size`` is negative.

Example:
    >>> torch.nonzero_static(torch.tensor([0, 1, 2]), size=3)
    tensor([[ 1],
            [ 2],
            [-1]])
""",
)

add_docstr(
    "argwhere",
    """
Return the coordinates of the elements that are not zero, in order.

Shape: any of n dimensions -> (count, n), of int64.

Example:
    >>> torch.argwhere(torch.tensor([0, 1, 2]))
    tensor([[1],
            [2]])
""",
)
