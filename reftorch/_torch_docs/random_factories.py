"""The docs of new tensors of random numbers.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "rand",
    """
Draw numbers from the uniform distribution on [0, 1).

Args:
    size: the shape, as ints or as one tuple.

Shape: ``size``.

Example:
    >>> _ = torch.manual_seed(0)
    >>> torch.rand(3)
    tensor([0.4963, 0.7682, 0.0885])
""",
)

add_docstr(
    "randn",
    """
Draw numbers from the normal distribution of mean 0 and variance 1.

Args:
    size: the shape, as ints or as one tuple.

Shape: ``size``.

Example:
    >>> _ = torch.manual_seed(0)
    >>> torch.randn(3)
    tensor([ 1.5410, -0.2934, -2.1788])
""",
)

add_docstr(
    "randint",
    """
Draw integers from the uniform distribution on [``low``, ``high``).

Args:
    low: the smallest integer; 0 by default.
    high: one more than the largest integer.
    size: the shape, as a tuple.

Shape: ``size``, of int64.

Example:
    >>> _ = torch.manual_seed(0)
    >>> torch.randint(10, (4,))
    tensor([4, 9, 3, 0])
""",
)

add_docstr(
    "randperm",
    """
Draw a permutation of 0 ... n - 1.

Shape: (``n``,), of int64.

Example:
    >>> _ = torch.manual_seed(0)
    >>> torch.randperm(4)
    tensor([0, 1, 3, 2])
""",
)

add_docstr(
    "rand_like",
    """
Draw numbers from the uniform distribution on [0, 1), in the shape and dtype of ``input``.

Shape: the shape of ``input``.

Example:
    >>> _ = torch.manual_seed(0)
    >>> torch.rand_like(torch.zeros(3))
    tensor([0.4963, 0.7682, 0.0885])
""",
)

add_docstr(
    "randn_like",
    """
Draw numbers from the normal distribution of mean 0 and variance 1, in the shape and dtype of ``input``.

Shape: the shape of ``input``.

Example:
    >>> _ = torch.manual_seed(0)
    >>> torch.randn_like(torch.zeros(3))
    tensor([ 1.5410, -0.2934, -2.1788])
""",
)

add_docstr(
    "randint_like",
    """
Draw integers from the uniform distribution on [``low``, ``high``), in the shape and dtype of ``input``.

Shape: the shape of ``input``.

Example:
    >>> _ = torch.manual_seed(0)
    >>> torch.randint_like(torch.zeros(4), 10)
    tensor([4., 9., 3., 0.])
""",
)
