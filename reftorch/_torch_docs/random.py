"""Random numbers: new random tensors, and ops that fill a tensor in place.

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
    "poisson",
    """
Draw counts from Poisson distributions. The elements are the rates.

Shape: the shape of ``input``.

Raises:
    RuntimeError: a rate is negative.

Example:
    >>> torch.poisson(torch.tensor([0.0, 0.0]))
    tensor([0., 0.])
""",
)

add_docstr(
    "multinomial",
    """
Draw ``num_samples`` indices, each with a probability proportional to its element.

Args:
    replacement: an index may be drawn more than once.

Shape: (*, N) -> (*, ``num_samples``), of int64.

Raises:
    RuntimeError: there are too few indices to draw from, an element is negative, or all elements are 0.

Example:
    >>> torch.multinomial(torch.tensor([0.0, 1.0, 0.0]), 1)
    tensor([1])
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

add_docstr(
    "exponential_",
    """
Fill with numbers drawn from the exponential distribution of rate ``lambd``.

Shape: the shape of the tensor, which is returned.

Example:
    >>> torch.zeros(2).exponential_() >= 0
    tensor([True, True])
""",
)

add_docstr(
    "geometric_",
    """
Fill with numbers of trials up to the first success, where each trial succeeds with probability ``p``.

Shape: the shape of the tensor, which is returned.

Example:
    >>> torch.zeros(2).geometric_(0.5) >= 1
    tensor([True, True])
""",
)

add_docstr(
    "cauchy_",
    """
Fill with numbers drawn from a Cauchy distribution.

Args:
    median: the median of the distribution.
    sigma: half of the distance between the quartiles of the distribution.

Shape: the shape of the tensor, which is returned.

Example:
    >>> torch.zeros(2).cauchy_().isfinite()
    tensor([True, True])
""",
)

add_docstr(
    "log_normal_",
    """
Fill with numbers whose logarithms are drawn from a normal distribution.

Args:
    mean: the mean of the logarithms.
    std: the standard deviation of the logarithms.

Shape: the shape of the tensor, which is returned.

Example:
    >>> torch.zeros(2).log_normal_() > 0
    tensor([True, True])
""",
)

add_docstr(
    "binomial",
    """
Draw the number of successes among ``count`` trials that each succeed with probability ``prob``.

Args:
    count: the numbers of trials, of a floating-point dtype, which is the dtype of the result.
    prob: the probabilities, in [0, 1].

Shape: broadcastable -> their common shape.

Example:
    >>> torch.binomial(torch.tensor([10.0, 10.0]), torch.tensor([0.0, 1.0]))
    tensor([ 0., 10.])
""",
)
