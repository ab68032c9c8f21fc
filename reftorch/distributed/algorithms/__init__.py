"""Algorithms on top of the collectives.

Mirrors: torch/distributed/algorithms/__init__.py
Leaves out: checkpoint wrappers.
"""

from reftorch._api import getattr_of as _getattr_of

__getattr__ = _getattr_of(__name__)
