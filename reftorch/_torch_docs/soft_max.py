"""The docs of softmax and its logarithm.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "softmax",
    r"""
Return :math:`e^{x_i} / \sum_j e^{x_j}` along ``dim``: positive numbers that add up to 1.

Args:
    dtype: the dtype of the computation and of the result.

Shape: the shape of ``input``.

Raises:
    RuntimeError: the dtype is an integer dtype, and ``dtype`` is not given.

Example:
    >>> torch.softmax(torch.tensor([0.0, 0.0, 1.0]), dim=0)
    tensor([0.2119, 0.2119, 0.5761])
""",
)

add_docstr(
    "log_softmax",
    """
Return the logarithm of :func:`softmax`, accurate where the softmax is small.

Args:
    dtype: the dtype of the computation and of the result.

Shape: the shape of ``input``.

Example:
    >>> torch.log_softmax(torch.tensor([0.0, 0.0, 1.0]), dim=0)
    tensor([-1.5514, -1.5514, -0.5514])
""",
)
