"""Helpers for the parameters and gradients of a network.

Mirrors: torch/nn/utils/__init__.py
"""

from typing import TYPE_CHECKING

from reftorch._api import getattr_of as _getattr_of
from reftorch.nn.utils import fusion, parametrizations, parametrize, rnn, stateless
from reftorch.nn.utils.clip_grad import (
    _clip_grads_with_norm_ as clip_grads_with_norm_,
)
from reftorch.nn.utils.clip_grad import (
    _get_total_norm as get_total_norm,
)
from reftorch.nn.utils.clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value_
from reftorch.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from reftorch.nn.utils.fusion import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)
from reftorch.nn.utils.init import skip_init
from reftorch.nn.utils.memory_format import (
    convert_conv2d_weight_memory_format,
    convert_conv3d_weight_memory_format,
)
from reftorch.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from reftorch.nn.utils.weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "convert_conv2d_weight_memory_format",
    "convert_conv3d_weight_memory_format",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "fusion",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "prune",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "stateless",
    "vector_to_parameters",
    "weight_norm",
]

if TYPE_CHECKING:
    from reftorch.nn.utils import prune
else:  # type checkers would accept any name if they saw this function
    __getattr__ = _getattr_of("reftorch.nn.utils", ("prune",))


def __dir__() -> list[str]:
    return [*globals(), "prune"]
