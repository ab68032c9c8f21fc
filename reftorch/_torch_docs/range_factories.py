"""The docs of new tensors of evenly spaced numbers.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "arange",
    """
Make a vector of numbers from ``start`` up to ``end``, ``end`` excluded.

Args:
    start: the first number; 0 by default.
    end: the bound of the numbers, excluded.
    step: the difference of neighbours; may be negative.

Shape: (ceil((``end`` - ``start``) / ``step``),).

Raises:
    RuntimeError: ``step`` is 0, or has the wrong sign.

Example:
    >>> torch.arange(5)
    tensor([0, 1, 2, 3, 4])
    >>> torch.arange(1, 2, 0.5)
    tensor([1.0000, 1.5000])
""",
)

add_docstr(
    "linspace",
    """
Make a vector of ``steps`` numbers from ``start`` to ``end``, both included, evenly spaced.

Shape: (``steps``,).

Example:
    >>> torch.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
""",
)

add_docstr(
    "logspace",
    """
Make a vector of ``steps`` powers of ``base``. The exponents go from ``start`` to ``end``, evenly spaced.

Shape: (``steps``,).

Example:
    >>> torch.logspace(0, 3, 4)
    tensor([   1.,   10.,  100., 1000.])
""",
)

add_docstr(
    "range",
    """
Make a vector of numbers from ``start`` to ``end``, both included. Deprecated; use :func:`arange`, which excludes
``end`` as Python's range does.

Args:
    step: the difference of neighbours.

Shape: (floor((``end`` - ``start``) / ``step``) + 1,).

Example:
    >>> torch._C._VariableFunctions.range(1, 3)
    tensor([1., 2., 3.])
""",
)
