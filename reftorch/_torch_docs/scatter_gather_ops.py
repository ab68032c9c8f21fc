"""The docs of reading and writing at an index for each element.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

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
