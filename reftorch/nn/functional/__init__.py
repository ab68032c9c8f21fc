"""The layers as functions: they have no state, and take parameters as arguments.

Mirrors: torch/nn/functional.py
Leaves out: the functions that the headers of the families list.

The C++ ops do the arithmetic; ``_C._nn`` holds the ops that only networks use. A function here checks its arguments,
fills in defaults and documents the computation. Each family of functions has a file of its own; this file exports them
under PyTorch's names.

A function that is marked ``@overridable`` can be overridden by ``__torch_function__``. The shortest functions, such
as ``relu``, check for an override themselves, because the decorator's wrapper would take a third of their time.
"""

from __future__ import annotations

from reftorch import _places
from reftorch.nn.functional import (
    activation,
    attention,
    classification,
    convolution,
    distance,
    dropouts,
    gates,
    group_norms,
    linear_maps,
    loss,
    margin_loss,
    multi_head_attention,
    normalization,
    padding,
    pair_loss,
    pooling,
    softmaxes,
    sparse,
    vision,
)
from reftorch.nn.functional.activation import *  # noqa: F403
from reftorch.nn.functional.attention import *  # noqa: F403
from reftorch.nn.functional.classification import *  # noqa: F403
from reftorch.nn.functional.convolution import *  # noqa: F403
from reftorch.nn.functional.distance import *  # noqa: F403
from reftorch.nn.functional.dropouts import *  # noqa: F403
from reftorch.nn.functional.gates import *  # noqa: F403
from reftorch.nn.functional.group_norms import *  # noqa: F403
from reftorch.nn.functional.linear_maps import *  # noqa: F403
from reftorch.nn.functional.loss import *  # noqa: F403
from reftorch.nn.functional.margin_loss import *  # noqa: F403
from reftorch.nn.functional.multi_head_attention import *  # noqa: F403
from reftorch.nn.functional.normalization import *  # noqa: F403
from reftorch.nn.functional.padding import *  # noqa: F403
from reftorch.nn.functional.pair_loss import *  # noqa: F403
from reftorch.nn.functional.pooling import *  # noqa: F403
from reftorch.nn.functional.softmaxes import *  # noqa: F403
from reftorch.nn.functional.sparse import *  # noqa: F403
from reftorch.nn.functional.vision import *  # noqa: F403

__all__ = [
    *activation.__all__,
    *attention.__all__,
    *classification.__all__,
    *convolution.__all__,
    *distance.__all__,
    *dropouts.__all__,
    *gates.__all__,
    *group_norms.__all__,
    *linear_maps.__all__,
    *loss.__all__,
    *margin_loss.__all__,
    *multi_head_attention.__all__,
    *normalization.__all__,
    *padding.__all__,
    *pair_loss.__all__,
    *pooling.__all__,
    *softmaxes.__all__,
    *sparse.__all__,
    *vision.__all__,
]

_places.split(__name__)
