"""The docs of reductions to the largest and the smallest element.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "max",
    """
Return the largest element. With ``dim``, return the largest element along ``dim`` and its index. With ``other``, return
the larger of the two elements.

Args:
    dim: the dimension that is removed.
    keepdim: keep the reduced dimension, with size 1.
    other: a tensor; the op is :func:`maximum` then.

Shape: -> (); with ``dim``, the shape of ``input`` without ``dim``, for both values and indices.

Raises:
    RuntimeError: there are no elements.

Example:
    >>> x = torch.tensor([[1, 5], [7, 2]])
    >>> torch.max(x)
    tensor(7)
    >>> torch.max(x, dim=1).indices
    tensor([1, 0])
""",
)

add_docstr(
    "min",
    """
Return the smallest element. With ``dim``, return the smallest element along ``dim`` and its index. With ``other``,
return the smaller of the two elements.

Args:
    dim: the dimension that is removed.
    keepdim: keep the reduced dimension, with size 1.
    other: a tensor; the op is :func:`minimum` then.

Shape: -> (); with ``dim``, the shape of ``input`` without ``dim``, for both values and indices.

Raises:
    RuntimeError: there are no elements.

Example:
    >>> x = torch.tensor([[1, 5], [7, 2]])
    >>> torch.min(x)
    tensor(1)
    >>> torch.min(x, dim=1).values
    tensor([1, 2])
""",
)

add_docstr(
    "amax",
    """
Return the largest element along ``dim``. If several elements are largest, they share the gradient.

Args:
    dim: the dimension or dimensions to reduce; all dimensions by default.
    keepdim: keep the reduced dimensions, with size 1.

Shape: the shape of ``input`` without ``dim``.

Example:
    >>> torch.amax(torch.tensor([[1, 5], [7, 2]]), dim=(0, 1))
    tensor(7)
""",
)

add_docstr(
    "amin",
    """
Return the smallest element along ``dim``. If several elements are smallest, they share the gradient.

Args:
    dim: the dimension or dimensions to reduce; all dimensions by default.
    keepdim: keep the reduced dimensions, with size 1.

Shape: the shape of ``input`` without ``dim``.

Example:
    >>> torch.amin(torch.tensor([[1, 5], [7, 2]]), dim=0)
    tensor([1, 2])
""",
)

add_docstr(
    "aminmax",
    """
Return the smallest and the largest element in one pass, as a named tuple (min, max).

Args:
    dim: the dimension to reduce; all dimensions by default.
    keepdim: keep the reduced dimension, with size 1.

Shape: the shape of ``input`` without ``dim``, twice.

Example:
    >>> low, high = torch.aminmax(torch.tensor([[1, 5], [7, 2]]), dim=0)
    >>> low, high
    (tensor([1, 2]), tensor([7, 5]))
""",
)

add_docstr(
    "argmax",
    """
Return the index of the largest element along ``dim``, or in the flattened tensor. If several elements are largest,
return the first index.

Args:
    dim: the dimension to reduce; all dimensions by default.
    keepdim: keep the reduced dimension, with size 1.

Shape: the shape of ``input`` without ``dim``, of int64.

Example:
    >>> torch.argmax(torch.tensor([[1, 5], [7, 2]]), dim=1)
    tensor([1, 0])
""",
)

add_docstr(
    "argmin",
    """
Return the index of the smallest element along ``dim``, or in the flattened tensor. If several elements are smallest,
return the first index.

Args:
    dim: the dimension to reduce; all dimensions by default.
    keepdim: keep the reduced dimension, with size 1.

Shape: the shape of ``input`` without ``dim``, of int64.

Example:
    >>> torch.argmin(torch.tensor([[1, 5], [7, 2]]))
    tensor(0)
""",
)
