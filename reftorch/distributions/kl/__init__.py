"""The Kullback-Leibler divergences of pairs of families.

Mirrors: torch/distributions/kl.py

The divergences stand in files by their pairs: ``registry.py`` (how a pair is found),
``same_family.py`` (both of one family), ``cross_families.py`` (two families), ``multivariate.py`` (normal vectors),
``infinite.py`` (pairs whose divergence is always infinite).
"""

from reftorch import _places
from reftorch.distributions.kl import cross_families, infinite, multivariate, same_family  # noqa: F401
from reftorch.distributions.kl.registry import (
    kl_divergence,
    register_kl,
)

__all__ = ["kl_divergence", "register_kl"]

_places.split(__name__)
