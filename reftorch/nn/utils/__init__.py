"""Helpers for the parameters and gradients of a network.

Mirrors: torch/nn/utils/__init__.py
Leaves out: parametrizations, pruning, fusion and packed sequences.
"""

from reftorch.nn.utils import stateless
from reftorch.nn.utils.clip_grad import clip_grad_norm_, clip_grad_value_
from reftorch.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters

__all__ = ["clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "stateless", "vector_to_parameters"]
