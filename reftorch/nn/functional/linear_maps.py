"""Linear maps, and rearrangements of channels.

Mirrors: torch/nn/functional.py (linear, bilinear, channel_shuffle, pixel_shuffle, pixel_unshuffle)
"""

from __future__ import annotations

from reftorch import _C, _VF

__all__ = ["bilinear", "channel_shuffle", "linear", "native_channel_shuffle", "pixel_shuffle", "pixel_unshuffle"]

# These are ops, so their docstrings are in reftorch/_torch_docs.
linear = _C._nn.linear
bilinear, channel_shuffle = _VF.bilinear, _VF.channel_shuffle
pixel_shuffle, pixel_unshuffle = _VF.pixel_shuffle, _VF.pixel_unshuffle
native_channel_shuffle = _VF.native_channel_shuffle
