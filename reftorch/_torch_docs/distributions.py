"""The docs of draws from uniform, normal and Bernoulli distributions.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "normal",
    """
Draw numbers from normal distributions of given means and standard deviations.

Args:
    mean: a tensor, or a number.
    std: a tensor, or a number; not negative.
    size: the shape, if both are numbers.

Shape: broadcast(``mean``, ``std``), or ``size``.

Raises:
    RuntimeError: an element of ``std`` is negative.

Example:
    >>> _ = torch.manual_seed(0)
    >>> torch.normal(torch.tensor([0.0, 100.0]), torch.tensor([1.0, 1.0])).round()
    tensor([  2., 100.])
""",
)

add_docstr(
    "bernoulli",
    """
Draw 0 or 1. The probability of 1 is the element, or ``p``.

Args:
    p: one probability for all elements.

Shape: the shape of ``input``.

Raises:
    RuntimeError: a probability is outside [0, 1].

Example:
    >>> torch.bernoulli(torch.tensor([0.0, 1.0]))
    tensor([0., 1.])
""",
)

add_docstr(
    "uniform_",
    """
Fill with numbers from the uniform distribution on [``from``, ``to``).

Shape: the shape of the tensor, which is returned.

Raises:
    RuntimeError: ``from`` is above ``to``.

Example:
    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).uniform_(5, 6)
    tensor([5.4963, 5.7682])
""",
)

add_docstr(
    "normal_",
    """
Fill with numbers drawn from a normal distribution.

Args:
    mean: the mean of the distribution.
    std: the standard deviation of the distribution; not negative.

Shape: the shape of the tensor, which is returned.

Raises:
    RuntimeError: ``std`` is negative.

Example:
    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).normal_(100, 1).round()
    tensor([102., 100.])
""",
)

add_docstr(
    "bernoulli_",
    """
Fill with 0 and 1. The probability of 1 is ``p``.

Args:
    p: a number, or a tensor of probabilities; 0.5 by default.

Shape: the shape of the tensor, which is returned.

Raises:
    RuntimeError: a probability is outside [0, 1].

Example:
    >>> torch.zeros(2).bernoulli_(1.0)
    tensor([1., 1.])
""",
)

add_docstr(
    "random_",
    """
Fill with integers from the uniform distribution on [``from``, ``to``); without bounds, from all integers that the dtype
represents exactly.

Shape: the shape of the tensor, which is returned.

Example:
    >>> torch.zeros(2).random_(1)
    tensor([0., 0.])
""",
)
