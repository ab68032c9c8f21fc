"""The docs of covariances and correlations.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "cov",
    """
Return the covariances of variables: each row is a variable, each column an observation.

Args:
    correction: 1 by default; 0 divides by the number of observations.
    fweights: the number of times that each observation counts.
    aweights: the weight of each observation.

Shape: (V, N) -> (V, V).

Example:
    >>> torch.cov(torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]))
    tensor([[1., 2.],
            [2., 4.]])
""",
)

add_docstr(
    "corrcoef",
    """
Return the correlation coefficients of variables: each row is a variable, each column an observation.

Shape: (V, N) -> (V, V).

Example:
    >>> torch.corrcoef(torch.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
""",
)
