"""The docs of quantiles.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "quantile",
    """
Return the quantiles: the values below which the fraction ``q`` of the elements lies.

Args:
    q: a number in [0, 1], or a vector of them.
    dim: the dimension to reduce; all dimensions by default.
    keepdim: keep the reduced dimension, with size 1.
    interpolation: "linear", "lower", "higher", "midpoint" or "nearest": the value between two elements.

Shape: the shape of ``q``, then the shape of ``input`` without ``dim``.

Raises:
    RuntimeError: ``q`` is outside [0, 1], or the dtypes differ.

Example:
    >>> torch.quantile(torch.tensor([1.0, 2.0, 3.0, 4.0]), torch.tensor([0.0, 0.5]))
    tensor([1.0000, 2.5000])
""",
)

add_docstr(
    "nanquantile",
    """
Return the quantiles of the elements that are not nan; see :func:`quantile`.

Args:
    q: a number in [0, 1], or a vector of them.
    dim: the dimension to reduce; all dimensions by default.
    interpolation: see :func:`quantile`.

Shape: the shape of ``q``, then the shape of ``input`` without ``dim``.

Example:
    >>> torch.nanquantile(torch.tensor([1.0, torch.nan, 3.0]), 0.5)
    tensor(2.)
""",
)
