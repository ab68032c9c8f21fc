"""Helpers for the arguments of layers, and for the names in a state dict.

Mirrors: torch/nn/modules/utils.py
"""

from __future__ import annotations

from typing import Any

from reftorch.nn._tuples import (  # noqa: F401 (programs import these names from here)
    _list_with_default,
    _ntuple,
    _pair,
    _quadruple,
    _reverse_repeat_tuple,
    _single,
    _triple,
)

__all__ = ["consume_prefix_in_state_dict_if_present"]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Remove a prefix from the names of a state dict in place, such as ``"module."`` of a model in a wrapper.

    Args:
        state_dict: the state dict.
        prefix: the prefix; names without it are kept.

    Example:
        >>> from reftorch.nn.modules.utils import consume_prefix_in_state_dict_if_present
        >>> state = {"module.weight": 1, "bias": 2}
        >>> consume_prefix_in_state_dict_if_present(state, "module.")
        >>> state
        {'bias': 2, 'weight': 1}

    Mirrors torch/nn/modules/utils.py, ``consume_prefix_in_state_dict_if_present``.
    """
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", {})
    for key in list(metadata):
        # The wrapper has the name "", the model in it the prefix without the dot.
        if key and (key == prefix.replace(".", "") or key.startswith(prefix)):
            metadata[key[len(prefix) :]] = metadata.pop(key)
