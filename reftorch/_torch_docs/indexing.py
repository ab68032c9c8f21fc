"""Reading and writing by index or by mask: gather, scatter and their relatives.

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

add_docstr(
    "gather",
    """
Return elements along ``dim`` by index: ``out[i][j] = input[index[i][j]][j]`` for ``dim`` = 0.

Args:
    index: integers, of as many dimensions as ``input``.
    sparse_grad: has no effect, because there are no sparse tensors.

Shape: the shape of ``index``.

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
Write elements along ``dim`` by index: ``out[index[i][j]][j] = src[i][j]`` for ``dim`` = 0.

Args:
    index: integers, of as many dimensions as ``input``.
    src: a tensor; use ``value`` for a number.
    reduce: "add" or "multiply" combines the elements instead of replacing them.

Shape: the shape of ``input``.

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
Add elements along ``dim`` by index: ``out[index[i][j]][j] += src[i][j]`` for ``dim`` = 0.

Args:
    index: integers, of as many dimensions as ``input``.

Shape: the shape of ``input``.

Example:
    >>> torch.scatter_add(torch.zeros(3), 0, torch.tensor([0, 0, 2]), torch.tensor([1.0, 2.0, 3.0]))
    tensor([3., 0., 3.])
""",
)

add_docstr(
    "scatter_reduce",
    """
Reduce elements along ``dim`` into the positions in ``index``.

Args:
    index: integers, of as many dimensions as ``input``.
    reduce: "sum", "prod", "mean", "amax" or "amin".
    include_self: include the elements of ``input`` in the reduction.

Shape: the shape of ``input``.

Example:
    >>> torch.scatter_reduce(torch.zeros(3), 0, torch.tensor([0, 0, 2]), torch.tensor([1.0, 2.0, 3.0]), "amax")
    tensor([2., 0., 3.])
""",
)

add_docstr(
    "masked_fill",
    """
Set the elements to ``value`` where ``mask`` is true.

Args:
    mask: a tensor of bools, whose shape broadcasts with that of ``input``.
    value: a number, or a tensor without dimensions.

Shape: broadcast(``input``, ``mask``).

Example:
    >>> torch.masked_fill(torch.tensor([1.0, 2.0]), torch.tensor([True, False]), 0)
    tensor([0., 2.])
""",
)

add_docstr(
    "masked_select",
    """
Return the elements where ``mask`` is true, in order.

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
Copy the elements of ``source``, in order, to the positions where ``mask`` is true.

Args:
    mask: a tensor of bools.
    source: a tensor with at least as many elements as ``mask`` has true ones.

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
Read by a list of index tensors. The expression ``x[i, j]`` calls this op if the subscripts are tensors.

Args:
    indices: a tensor of integers or bools for each dimension, or None.

Shape: the shape of ``input``, with the broadcast shape of the indices in place of the indexed dimensions.

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
Write by a list of index tensors: return a copy of ``input`` after ``x[i, j] = values``.

Args:
    indices: a tensor of integers or bools for each dimension.
    values: a tensor that is broadcast to the shape of the indexed elements.
    accumulate: add ``values`` to the elements instead of replacing them.

Shape: the shape of ``input``.

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
Return the coordinates of the elements that are not zero, in a given number of rows.

Args:
    size: the number of rows; further coordinates are dropped.
    fill_value: the value of the unused rows.

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
