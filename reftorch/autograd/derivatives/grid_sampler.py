"""Derivatives of reading an image at the places of a grid.

Mirrors: tools/autograd/derivatives.yaml (grid_sampler_2d, grid_sampler_3d)
Leaves out: second derivatives, as PyTorch does.
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative, not_implemented

_nn = _C._nn


def _register(op: str) -> None:
    backward = getattr(_nn, f"{op}_backward")

    @derivative(op, inputs=["input", "grid"])
    def grid_sampler(
        grad: Any, input: Any, grid: Any, interpolation_mode: Any, padding_mode: Any, align_corners: Any,
        needs_input_grad: Any,
    ) -> Any:  # fmt: skip
        return backward(grad, input, grid, interpolation_mode, padding_mode, align_corners, list(needs_input_grad))


_register("grid_sampler_2d")
_register("grid_sampler_3d")
not_implemented("grid_sampler_2d_backward", "grid_sampler_3d_backward")
