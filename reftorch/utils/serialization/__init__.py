"""The package of the options of :func:`reftorch.save` and :func:`reftorch.load`.

Mirrors: torch/utils/serialization/__init__.py
"""

from reftorch.utils.serialization import config

__all__ = ["config"]
