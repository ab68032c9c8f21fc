"""The docs of sorting and order statistics.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "sort",
    """
Sort along ``dim``; return the sorted elements and their former indices: (values, indices).

Args:
    descending: sort from the largest to the smallest.
    stable: keep the order of equal elements; here, sorting always does.

Shape: the shape of ``input``, twice.

Example:
    >>> values, indices = torch.sort(torch.tensor([3, 1, 2]))
    >>> values, indices
    (tensor([1, 2, 3]), tensor([1, 2, 0]))
""",
)

add_docstr(
    "argsort",
    """
Return the indices that sort ``input`` along ``dim``.

Args:
    descending: sort from the largest to the smallest.
    stable: keep the order of equal elements.

Shape: the shape of ``input``, of int64.

Example:
    >>> torch.argsort(torch.tensor([3, 1, 2]))
    tensor([1, 2, 0])
""",
)

add_docstr(
    "msort",
    """
Sort along the first dimension.

Shape: the shape of ``input``.

Example:
    >>> torch.msort(torch.tensor([[3, 1], [1, 2]]))
    tensor([[1, 1],
            [3, 2]])
""",
)

add_docstr(
    "topk",
    """
Return the ``k`` largest elements along ``dim`` and their indices: (values, indices).

Args:
    largest: if False, return the smallest elements.
    sorted: return the elements in order.

Shape: the shape of ``input`` with size ``k`` at ``dim``, twice.

Raises:
    RuntimeError: there are fewer than ``k`` elements.

Example:
    >>> torch.topk(torch.tensor([3, 1, 5, 2]), 2).values
    tensor([5, 3])
""",
)

add_docstr(
    "kthvalue",
    """
Return the ``k``-th smallest element along ``dim`` and its index: (values, indices).

Args:
    k: the rank; 1 is the smallest element.
    keepdim: keep the reduced dimension, with size 1.

Shape: the shape of ``input`` without ``dim``, twice.

Example:
    >>> torch.kthvalue(torch.tensor([30, 10, 20]), 2).values
    tensor(20)
""",
)

add_docstr(
    "median",
    """
Return the median: of an even number of elements, the lower of the two in the middle. With ``dim``, return the median
and its index: (values, indices).

Args:
    dim: the dimension to reduce; all dimensions by default.
    keepdim: keep the reduced dimension, with size 1.

Shape: the shape of ``input`` without ``dim``.

Example:
    >>> torch.median(torch.tensor([3, 1, 2, 4]))
    tensor(2)
""",
)

add_docstr(
    "nanmedian",
    """
Return the median of the elements that are not nan. With ``dim``, return the median and its index: (values, indices).

Args:
    dim: the dimension to reduce; all dimensions by default.
    keepdim: keep the reduced dimension, with size 1.

Shape: the shape of ``input`` without ``dim``.

Example:
    >>> torch.nanmedian(torch.tensor([3.0, torch.nan, 2.0]))
    tensor(2.)
""",
)

add_docstr(
    "mode",
    """
Return the most frequent element along ``dim`` and the last of its indices: (values, indices). If several elements are
most frequent, return the smallest.

Args:
    keepdim: keep the reduced dimension, with size 1.

Shape: the shape of ``input`` without ``dim``, twice.

Example:
    >>> torch.mode(torch.tensor([1, 3, 3, 2])).values
    tensor(3)
""",
)
