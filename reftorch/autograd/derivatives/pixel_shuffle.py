"""Derivatives of moves of elements between channels and pixels: the move back.

Mirrors: tools/autograd/derivatives.yaml (pixel_shuffle, pixel_unshuffle, channel_shuffle)
"""

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_VF = _C._VariableFunctions

derivative(
    "pixel_shuffle",
    self=lambda grad, upscale_factor: _VF.pixel_unshuffle(grad, upscale_factor),
    result="auto_linear",
)
derivative(
    "pixel_unshuffle",
    self=lambda grad, downscale_factor: _VF.pixel_shuffle(grad, downscale_factor),
    result="auto_linear",
)
# (groups, k) became (k, groups): k groups of channels bring each one back.
derivative(
    "channel_shuffle",
    self=lambda grad, self_sizes, groups: _VF.channel_shuffle(grad, self_sizes[1] // groups),
    result="auto_linear",
)
