"""The docs of scans: each result depends on its element and on all elements before it.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "cumsum",
    """
Return the running sum along ``dim``.

Args:
    dtype: the dtype of the computation and of the result; by default, integers are summed as int64.

Shape: the shape of ``input``.

Example:
    >>> torch.cumsum(torch.tensor([1, 2, 3]), dim=0)
    tensor([1, 3, 6])
""",
)

add_docstr(
    "cumprod",
    """
Return the running product along ``dim``.

Args:
    dtype: the dtype of the computation and of the result.

Shape: the shape of ``input``.

Example:
    >>> torch.cumprod(torch.tensor([1, 2, 3]), dim=0)
    tensor([1, 2, 6])
""",
)

add_docstr(
    "logcumsumexp",
    r"""
Return :math:`\ln \sum e^x` of the elements so far, along ``dim``, without overflow.

Shape: the shape of ``input``.

Example:
    >>> torch.logcumsumexp(torch.tensor([0.0, 0.0, 0.0]), dim=0)
    tensor([0.0000, 0.6931, 1.0986])
""",
)

add_docstr(
    "cummax",
    """
Return the largest element so far along ``dim``, and its index: (values, indices).

Shape: the shape of ``input``, twice.

Example:
    >>> torch.cummax(torch.tensor([1, 3, 2]), dim=0).values
    tensor([1, 3, 3])
""",
)

add_docstr(
    "cummin",
    """
Return the smallest element so far along ``dim``, and its index: (values, indices).

Shape: the shape of ``input``, twice.

Example:
    >>> torch.cummin(torch.tensor([3, 1, 2]), dim=0).values
    tensor([3, 1, 1])
""",
)
