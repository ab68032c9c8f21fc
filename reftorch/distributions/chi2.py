"""The chi-squared distribution.

Mirrors: torch/distributions/chi2.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reftorch import Tensor
from reftorch.distributions import constraints
from reftorch.distributions.gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    r"""The chi-squared distribution: the sum of the squares of :math:`k` standard normal variables.

    It is a gamma distribution with the concentration :math:`k / 2` and the rate 1/2.

    Args:
        df: the degrees of freedom :math:`k`, positive.
        validate_args: see ``Distribution``.

    Example:
        >>> d = torch.distributions.Chi2(torch.tensor([3.0]))
        >>> d.mean, d.variance
        (tensor([3.]), tensor([6.]))

    Mirrors torch/distributions/chi2.py, ``Chi2``.
    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        new = self._get_checked_instance(Chi2, _instance)
        return super().expand(batch_shape, new)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.concentration * 2
