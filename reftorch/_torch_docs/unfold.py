"""The docs of windows along a dimension.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "unfold",
    """
Return a view of all windows of ``size`` elements along a dimension, ``step`` apart.

Shape: (..., (N - ``size``) / ``step`` + 1, ..., ``size``).

Raises:
    RuntimeError: ``size`` is above the size of the dimension, or ``step`` is not positive.

Example:
    >>> torch.arange(4).unfold(0, 2, 1)
    tensor([[0, 1],
            [1, 2],
            [2, 3]])
""",
)

add_docstr(
    "unfold_backward",
    """
Return the gradient of ``unfold``: each element receives the sum over the windows that contain the element.

Shape: ``input_sizes``.

Example:
    >>> torch.unfold_backward(torch.ones(2, 2), [3], 0, 2, 1)
    tensor([1., 2., 1.])
""",
)
