"""Functions that Python defines because a schema cannot describe their arguments.

Mirrors: torch/functional.py
Leaves out: ``stft`` and ``istft``.

Each family of functions has a file of its own in this package; this file exports them under PyTorch's names.
"""

from __future__ import annotations

from reftorch import _places
from reftorch.functional import (
    construction,
    elements,
    gradients,
    histograms,
    norms,
    predicates,
    products,
    segments,
    shapes,
)
from reftorch.functional.construction import *  # noqa: F403
from reftorch.functional.elements import *  # noqa: F403
from reftorch.functional.gradients import *  # noqa: F403
from reftorch.functional.histograms import *  # noqa: F403
from reftorch.functional.norms import *  # noqa: F403
from reftorch.functional.predicates import *  # noqa: F403
from reftorch.functional.products import *  # noqa: F403
from reftorch.functional.segments import *  # noqa: F403
from reftorch.functional.shapes import *  # noqa: F403

__all__ = [
    *construction.__all__,
    *gradients.__all__,
    *histograms.__all__,
    *norms.__all__,
    *predicates.__all__,
    *products.__all__,
    *segments.__all__,
    *shapes.__all__,
    *elements.__all__,
]  # fmt: skip

_places.split(__name__)
