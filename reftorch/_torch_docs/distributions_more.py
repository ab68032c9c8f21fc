"""The docs of draws from exponential, geometric, Cauchy, gamma, Poisson and discrete distributions.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

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

add_docstr(
    "_standard_gamma",
    """
Draw from gamma distributions of rate 1. The elements are the shape parameters.

The result has a gradient, which ``torch.distributions.Gamma.rsample`` uses.

Shape: the shape of ``input``.

Example:
    >>> torch._standard_gamma(torch.tensor([0.5, 3.0])) > 0
    tensor([True, True])
""",
)

add_docstr(
    "_standard_gamma_grad",
    """
Return the derivative of gamma samples by their shape parameters, with the quantile held constant.

Args:
    output: the samples.

Shape: broadcastable -> their common shape.

Example:
    >>> torch._standard_gamma_grad(torch.tensor([1.0]), torch.tensor([1.0]))
    tensor([1.1736])
""",
)

add_docstr(
    "_sample_dirichlet",
    """
Draw from Dirichlet distributions. The rows are the concentrations, and the rows of the result sum to 1.

``torch.distributions.Dirichlet.rsample`` gives the result a gradient.

Shape: (*, K) -> (*, K).

Example:
    >>> torch._sample_dirichlet(torch.ones(3)).sum().round(decimals=3)
    tensor(1.)
""",
)

add_docstr(
    "_dirichlet_grad",
    """
Return the derivative of elements of Dirichlet samples by their concentrations, divided by one minus the element.

Args:
    x: the elements of the samples.
    alpha: their concentrations.
    total: the sums of all concentrations of a sample.

Shape: broadcastable -> their common shape.

Example:
    >>> torch._dirichlet_grad(torch.tensor([0.5]), torch.tensor([1.0]), torch.tensor([2.0]))
    tensor([0.6931])
""",
)
