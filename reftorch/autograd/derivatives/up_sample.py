"""Derivatives of interpolation.

Mirrors: tools/autograd/derivatives.yaml (upsample_nearest1d, upsample_bilinear2d, ...)

Interpolation is linear: the gradient of an op is its transpose, which is an op of its own, and the gradient of the
transpose is the op again. See Note [Interpolation].
"""

from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import derivative

_nn = _C._nn


def _register_nearest(op: str, backward: str) -> None:
    """The scales are the last one, two or three arguments; a formula names those that its op has."""
    forward_op, backward_op = getattr(_nn, op), getattr(_nn, backward)
    if op.endswith("1d"):
        derivative(
            op,
            self=lambda grad, self_sizes, output_size, scales: backward_op(grad, output_size, self_sizes, scales),
            result="auto_linear",
        )
        derivative(
            backward,
            grad_output=lambda grad, output_size, scales: forward_op(grad, output_size, scales),
            result="auto_linear",
        )
    elif op.endswith("2d"):
        derivative(
            op,
            self=lambda grad, self_sizes, output_size, scales_h, scales_w: backward_op(
                grad, output_size, self_sizes, scales_h, scales_w
            ),
            result="auto_linear",
        )
        derivative(
            backward,
            grad_output=lambda grad, output_size, scales_h, scales_w: forward_op(grad, output_size, scales_h, scales_w),
            result="auto_linear",
        )
    else:
        derivative(
            op,
            self=lambda grad, self_sizes, output_size, scales_d, scales_h, scales_w: backward_op(
                grad, output_size, self_sizes, scales_d, scales_h, scales_w
            ),
            result="auto_linear",
        )
        derivative(
            backward,
            grad_output=lambda grad, output_size, scales_d, scales_h, scales_w: forward_op(
                grad, output_size, scales_d, scales_h, scales_w
            ),
            result="auto_linear",
        )


for _dims in ("1d", "2d", "3d"):
    _register_nearest(f"upsample_nearest{_dims}", f"upsample_nearest{_dims}_backward")
    _register_nearest(f"_upsample_nearest_exact{_dims}", f"_upsample_nearest_exact{_dims}_backward")

derivative(
    "upsample_linear1d",
    self=lambda grad, self_sizes, output_size, align_corners, scales: _nn.upsample_linear1d_backward(
        grad, output_size, self_sizes, align_corners, scales
    ),
    result="auto_linear",
)
derivative(
    "upsample_linear1d_backward",
    grad_output=lambda grad, output_size, align_corners, scales: _nn.upsample_linear1d(
        grad, output_size, align_corners, scales
    ),
    result="auto_linear",
)


def _register_smooth2d(op: str) -> None:
    forward_op, backward_op = getattr(_nn, op), getattr(_nn, f"{op}_backward")

    def of_self(grad: Any, self_sizes: Any, output_size: Any, align_corners: Any, scales_h: Any, scales_w: Any) -> Any:
        return backward_op(grad, output_size, self_sizes, align_corners, scales_h, scales_w)

    def of_grad(grad: Any, output_size: Any, align_corners: Any, scales_h: Any, scales_w: Any) -> Any:
        return forward_op(grad, output_size, align_corners, scales_h, scales_w)

    derivative(op, self=of_self, result="auto_linear")
    derivative(f"{op}_backward", grad_output=of_grad, result="auto_linear")


for _op in (
    "upsample_bilinear2d", "upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa",
    "_upsample_lanczos2d_aa",
):  # fmt: skip
    _register_smooth2d(_op)

derivative(
    "upsample_trilinear3d",
    self=lambda grad, self_sizes, output_size, align_corners, scales_d, scales_h, scales_w: (
        _nn.upsample_trilinear3d_backward(grad, output_size, self_sizes, align_corners, scales_d, scales_h, scales_w)
    ),
    result="auto_linear",
)
derivative(
    "upsample_trilinear3d_backward",
    grad_output=lambda grad, output_size, align_corners, scales_d, scales_h, scales_w: _nn.upsample_trilinear3d(
        grad, output_size, align_corners, scales_d, scales_h, scales_w
    ),
    result="auto_linear",
)
