"""The docs of questions about numbers and tensors: nan, infinite, close, equal.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "isclose",
    r"""
Return whether the two elements are nearly equal: :math:`|input - other| \le atol + rtol \cdot |other|`.

Args:
    equal_nan: count two nans as equal.

Shape: broadcast(``input``, ``other``), of bools.

Raises:
    RuntimeError: the dtypes differ, or a tolerance is negative.

Example:
    >>> torch.isclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0 + 1e-9, 2.1]))
    tensor([ True, False])
""",
)

add_docstr(
    "allclose",
    """
Return whether all elements are nearly equal, in the sense of :func:`isclose`.

Shape: broadcastable -> a Python bool.

Example:
    >>> torch.allclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0 + 1e-9, 2.0]))
    True
""",
)

add_docstr(
    "equal",
    """
Return whether both tensors have the same shape and the same elements.

Shape: any -> a Python bool.

Example:
    >>> torch.equal(torch.tensor([1, 2]), torch.tensor([1, 2])), torch.equal(torch.ones(2), torch.ones(3))
    (True, False)
""",
)

add_docstr(
    "isnan",
    """
Return whether each element is nan.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isnan(torch.tensor([1.0, torch.nan]))
    tensor([False,  True])
""",
)

add_docstr(
    "isinf",
    """
Return whether each element is inf or -inf.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isinf(torch.tensor([1.0, -torch.inf]))
    tensor([False,  True])
""",
)

add_docstr(
    "isfinite",
    """
Return whether each element is neither infinite nor nan.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isfinite(torch.tensor([1.0, torch.inf, torch.nan]))
    tensor([ True, False, False])
""",
)

add_docstr(
    "isposinf",
    """
Return whether each element is inf.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isposinf(torch.tensor([torch.inf, -torch.inf]))
    tensor([ True, False])
""",
)

add_docstr(
    "isneginf",
    """
Return whether each element is -inf.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isneginf(torch.tensor([torch.inf, -torch.inf]))
    tensor([False,  True])
""",
)

add_docstr(
    "isreal",
    """
Return whether each element is a real number: always True, because there are no complex dtypes.

Shape: the shape of ``input``, of bools.

Example:
    >>> torch.isreal(torch.tensor([1.0, 2.0]))
    tensor([True, True])
""",
)

add_docstr(
    "real",
    """
Return the real part of each element: ``input`` itself, because there are no complex dtypes.

Shape: the shape of ``input``; the result is a view of ``input``.

Example:
    >>> torch.real(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "conj",
    """
Return the complex conjugate of each element: ``input`` itself, because there are no complex dtypes.

Shape: the shape of ``input``; the result is a view of ``input``.

Example:
    >>> torch.conj(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "conj_physical",
    """
Return the complex conjugate of each element. The conjugate of a real number is the number itself, so the result is
``input``.

Shape: the shape of ``input``.

Example:
    >>> torch.conj_physical(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "resolve_conj",
    """
Carry out a pending conjugation. There is never one, so the result is ``input``.

Shape: the shape of ``input``.

Example:
    >>> torch.resolve_conj(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "resolve_neg",
    """
Carry out a pending negation. There is never one, so the result is ``input``.

Shape: the shape of ``input``.

Example:
    >>> torch.resolve_neg(torch.tensor([1.0, 2.0]))
    tensor([1., 2.])
""",
)

add_docstr(
    "is_nonzero",
    """
Return whether the only element of ``input`` is not zero.

Shape: one element -> a Python bool.

Raises:
    RuntimeError: the number of elements is not 1.

Example:
    >>> torch.is_nonzero(torch.tensor([2.0]))
    True
""",
)
