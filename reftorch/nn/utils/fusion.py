r"""Folding a batch norm in evaluation mode into the convolution or linear map before it.

In evaluation mode a batch norm computes :math:`(x - m) s + b` with :math:`s = w / \sqrt{v + \epsilon}`, a linear map of
each channel. After :math:`x = A z + c` this is :math:`(s A) z + (c - m) s + b`, again such a layer.

Mirrors: torch/nn/utils/fusion.py
"""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.nn.parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]

_Layer = TypeVar("_Layer", bound=Any)


def _check_evaluation(layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")


def fuse_conv_bn_eval(conv: _Layer, bn: Any, transpose: bool = False) -> _Layer:
    """Return a convolution that does what a convolution followed by a batch norm does.

    Args:
        conv: the convolution, in evaluation mode.
        bn: the batch norm, in evaluation mode.
        transpose: whether ``conv`` is a transposed convolution, whose weight has the output channels second.

    Raises:
        AssertionError: a module is in training mode, or the batch norm has no running statistics.

    Mirrors torch/nn/utils/fusion.py, ``fuse_conv_bn_eval``.
    """
    _check_evaluation(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    r"""Return weight and bias of a convolution with a batch norm folded in.

    Args:
        conv_w: weight :math:`(C_{out}, C_{in}, *)`, or :math:`(C_{in}, C_{out}, *)` if ``transpose``.
        conv_b: bias :math:`(C_{out})`, or None for zeros.
        bn_rm, bn_rv: running mean and variance :math:`(C_{out})`.
        bn_eps: :math:`\epsilon`.
        bn_w, bn_b: weight and bias of the batch norm :math:`(C_{out})`, or None for ones and zeros.
        transpose: whether the convolution is a transposed one.

    Example:
        >>> from reftorch.nn.utils.fusion import fuse_conv_bn_weights
        >>> zero, one = torch.zeros(1), torch.ones(1)
        >>> w, b = fuse_conv_bn_weights(torch.ones(1, 1, 2), None, one, 4 * one, 0.0, 3 * one, zero)
        >>> w.detach().tolist(), b.detach().tolist()
        ([[[1.5, 1.5]]], [-1.5])

    Mirrors torch/nn/utils/fusion.py, ``fuse_conv_bn_weights``.
    """
    bias = conv_b if conv_b is not None else _VF.zeros_like(bn_rm)
    scale = _VF.rsqrt(bn_rv + bn_eps) * (bn_w if bn_w is not None else 1)
    shape = ([1, -1] if transpose else [-1, 1]) + [1] * (conv_w.dim() - 2)
    fused_w = (conv_w * scale.reshape(shape)).to(conv_w.dtype)
    fused_b = (bias - bn_rm) * scale + (bn_b if bn_b is not None else 0)
    fused_b = fused_b.to(conv_w.dtype if conv_b is None else conv_b.dtype)
    return Parameter(fused_w.detach(), conv_w.requires_grad), Parameter(fused_b.detach(), bias.requires_grad)


def fuse_linear_bn_eval(linear: _Layer, bn: Any) -> _Layer:
    """Return a linear map that does what a linear map followed by a batch norm does.

    Args:
        linear: the linear map, in evaluation mode.
        bn: the batch norm of its outputs, in evaluation mode.

    Raises:
        AssertionError: a module is in training mode, the batch norm has no running statistics, or it has another
            number of features than the linear map has outputs, and not one.

    Example:
        >>> linear, bn = torch.nn.Linear(2, 3).eval(), torch.nn.BatchNorm1d(3).eval()
        >>> fused = torch.nn.utils.fusion.fuse_linear_bn_eval(linear, bn)
        >>> x = torch.ones(1, 2)
        >>> torch.allclose(fused(x), bn(linear(x)))
        True

    Mirrors torch/nn/utils/fusion.py, ``fuse_linear_bn_eval``.
    """
    _check_evaluation(linear, bn)
    if bn.num_features not in (linear.out_features, 1):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:
    r"""Return weight and bias of a linear map with a batch norm folded in; see :func:`fuse_conv_bn_weights`.

    Args:
        linear_w, linear_b: weight :math:`(out, in)`, and bias :math:`(out)` or None.
        bn_rm, bn_rv, bn_eps, bn_w, bn_b: of the batch norm.

    Mirrors torch/nn/utils/fusion.py, ``fuse_linear_bn_weights``.
    """
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
