"""Order: sorting, ranks, distinct elements, places in an order.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "sort",
    """
Sort along ``dim``; return the sorted elements and where they were: (values, indices).

Args:
    descending: the largest first.
    stable: equal elements keep their order; here they always do.

Shape: that of ``input``, twice.

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
    descending: the largest first.
    stable: equal elements keep their order.

Shape: that of ``input``, of int64.

Example:
    >>> torch.argsort(torch.tensor([3, 1, 2]))
    tensor([1, 2, 0])
""",
)

add_docstr(
    "msort",
    """
Sort along the first dimension.

Shape: that of ``input``.

Example:
    >>> torch.msort(torch.tensor([[3, 1], [1, 2]]))
    tensor([[1, 1],
            [3, 2]])
""",
)

add_docstr(
    "topk",
    """
Return the ``k`` largest elements along ``dim`` and where they are: (values, indices).

Args:
    largest: False asks for the smallest.
    sorted: in order.

Shape: that of ``input`` with size ``k`` at ``dim``, twice.

Raises:
    RuntimeError: there are not ``k`` elements.

Example:
    >>> torch.topk(torch.tensor([3, 1, 5, 2]), 2).values
    tensor([5, 3])
""",
)

add_docstr(
    "kthvalue",
    """
Return the ``k``-th smallest element along ``dim`` and where it is: (values, indices).

Args:
    k: 1 is the smallest.
    keepdim: keep the dimension, with size 1.

Shape: that of ``input`` without ``dim``, twice.

Example:
    >>> torch.kthvalue(torch.tensor([30, 10, 20]), 2).values
    tensor(20)
""",
)

add_docstr(
    "median",
    """
Return the middle element, the lower one of two; with ``dim`` also where it is: (values, indices).

Args:
    dim: the dimension that goes; all by default.
    keepdim: keep it, with size 1.

Shape: that of ``input`` without ``dim``.

Example:
    >>> torch.median(torch.tensor([3, 1, 2, 4]))
    tensor(2)
""",
)

add_docstr(
    "nanmedian",
    """
Return the middle one of the elements that are not nan; with ``dim`` also where it is: (values, indices).

Args:
    dim: the dimension that goes; all by default.
    keepdim: keep it, with size 1.

Shape: that of ``input`` without ``dim``.

Example:
    >>> torch.nanmedian(torch.tensor([3.0, torch.nan, 2.0]))
    tensor(2.)
""",
)

add_docstr(
    "mode",
    """
Return the most frequent element along ``dim`` (the smallest of several) and where it is last: (values, indices).

Args:
    keepdim: keep the dimension, with size 1.

Shape: that of ``input`` without ``dim``, twice.

Example:
    >>> torch.mode(torch.tensor([1, 3, 3, 2])).values
    tensor(3)
""",
)

add_docstr(
    "searchsorted",
    """
Return where to put elements into a sorted sequence so that it stays sorted.

Args:
    sorted_sequence: sorted along its last dimension.
    input: the elements, or a number.
    right: behind equal ones instead of before them; ``side`` = "left" or "right" says the same.
    out_int32: return int32 instead of int64.
    sorter: the indices that sort ``sorted_sequence``, where it is not sorted.

Shape: (*, N), (*, M) -> (*, M), of int64.

Example:
    >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3, 6]))
    tensor([1, 3])
""",
)

add_docstr(
    "bucketize",
    """
Return in which of the ranges between ``boundaries`` each element lies.

Args:
    boundaries: a sorted vector.
    right: an element equal to a boundary belongs to the next range.
    out_int32: return int32 instead of int64.

Shape: any, (N,) -> that of ``input``, of int64.

Example:
    >>> torch.bucketize(torch.tensor([[3, 6], [1, 9]]), torch.tensor([1, 3, 5]))
    tensor([[1, 3],
            [0, 3]])
""",
)

add_docstr(
    "unique_dim",
    """
Return the distinct slices along ``dim``, in order: what :func:`unique` calls.

Args:
    return_inverse: also which of them each slice is.
    return_counts: also how often each occurs.

Shape: -> (distinct, inverse, counts).

Example:
    >>> torch._VF.unique_dim(torch.tensor([[1, 2], [1, 2]]), dim=0)[0]
    tensor([[1, 2]])
""",
)

add_docstr(
    "unique_consecutive",
    """
Return ``input`` without the elements that equal the one before them: what the function of ``torch`` calls.

Args:
    return_inverse: also which of the results each element is.
    return_counts: also how long each run is.
    dim: compare slices along this dimension instead of elements.

Shape: -> the results; as far as asked for, with the inverse and the counts.

Example:
    >>> torch.unique_consecutive(torch.tensor([3, 3, 1, 3]))
    tensor([3, 1, 3])
""",
)

add_docstr(
    "unique_dim_consecutive",
    """
Return the slices along ``dim`` without those that equal the one before them: what :func:`unique_consecutive` calls.

Args:
    return_inverse: also which of the results each slice is.
    return_counts: also how long each run is.

Shape: -> (results, inverse, counts).

Example:
    >>> torch.unique_consecutive(torch.tensor([[1, 2], [1, 2]]), dim=0)
    tensor([[1, 2]])
""",
)
