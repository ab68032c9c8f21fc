"""The docs of choices and clamping.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "where",
    """
Return the elements of ``input`` where ``condition`` is true, and those of ``other`` elsewhere. With ``condition``
alone, return the coordinates where it is true, as :func:`nonzero` with ``as_tuple=True`` does.

Args:
    condition: a tensor of bools.
    input: a tensor, or a number.
    other: a tensor, or a number.

Shape: broadcast(``condition``, ``input``, ``other``).

Example:
    >>> x = torch.tensor([-1.0, 2.0, -3.0])
    >>> torch.where(x > 0, x, 0)
    tensor([0., 2., 0.])
    >>> torch.where(x > 0)
    (tensor([1]),)
""",
)

add_docstr(
    "clamp",
    """
Clamp each element to the interval [``min``, ``max``].

Args:
    min: a number, or a tensor; None means no lower bound.
    max: a number, or a tensor; None means no upper bound. If ``min`` is above ``max``, the result is ``max``.

Shape: broadcast(``input``, ``min``, ``max``).

Raises:
    RuntimeError: neither bound is given.

Example:
    >>> torch.clamp(torch.tensor([-2.0, 0.5, 3.0]), min=-1, max=1)
    tensor([-1.0000,  0.5000,  1.0000])
""",
)

add_docstr(
    "clamp_min",
    """
Replace each element below ``min`` by ``min``.

Args:
    min: a number, or a tensor.

Shape: broadcast(``input``, ``min``).

Example:
    >>> torch.clamp_min(torch.tensor([-2.0, 0.5]), 0)
    tensor([0.0000, 0.5000])
""",
)

add_docstr(
    "clamp_max",
    """
Replace each element above ``max`` by ``max``.

Args:
    max: a number, or a tensor.

Shape: broadcast(``input``, ``max``).

Example:
    >>> torch.clamp_max(torch.tensor([-2.0, 0.5]), 0)
    tensor([-2.,  0.])
""",
)
