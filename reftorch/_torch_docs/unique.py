"""The docs of distinct elements.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "unique_dim",
    """
Return the distinct slices along ``dim``, in order. :func:`unique` calls this op.

Args:
    return_inverse: return also, for each slice, its index in the result.
    return_counts: return also the number of times that each occurs.

Shape: -> (distinct, inverse, counts).

Example:
    >>> torch._VF.unique_dim(torch.tensor([[1, 2], [1, 2]]), dim=0)[0]
    tensor([[1, 2]])
""",
)

add_docstr(
    "unique_consecutive",
    """
Return ``input`` without each element that equals its predecessor. The Python function ``torch.unique_consecutive``
calls this op.

Args:
    return_inverse: return also, for each element, its index in the result.
    return_counts: return also the length of each run.
    dim: compare slices along this dimension instead of elements.

Shape: -> the result; with the inverse and the counts, if the caller asks for them.

Example:
    >>> torch.unique_consecutive(torch.tensor([3, 3, 1, 3]))
    tensor([3, 1, 3])
""",
)

add_docstr(
    "unique_dim_consecutive",
    """
Return the slices along ``dim`` without each slice that equals its predecessor. :func:`unique_consecutive` calls this
op.

Args:
    return_inverse: return also, for each slice, its index in the result.
    return_counts: return also the length of each run.

Shape: -> (results, inverse, counts).

Example:
    >>> torch.unique_consecutive(torch.tensor([[1, 2], [1, 2]]), dim=0)
    tensor([[1, 2]])
""",
)
