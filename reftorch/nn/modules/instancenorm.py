"""Normalization of each channel of each example.

Mirrors: torch/nn/modules/instancenorm.py
"""

from __future__ import annotations

from typing import Any

from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.nn import functional as F
from reftorch.nn.modules.batchnorm import _LazyNormBase, _NormBase

__all__ = [
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


class _InstanceNorm(_NormBase):
    """What the three modules share; each knows the number of dimensions of one example."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _get_no_batch_dim(self) -> int:
        raise NotImplementedError(f"{type(self).__name__}._get_no_batch_dim")

    def _check_input_dim(self, input: Tensor) -> None:
        dims = self._get_no_batch_dim()
        if input.dim() not in (dims, dims + 1):
            raise ValueError(f"expected {dims}D or {dims + 1}D input (got {input.dim()}D input)")

    def _apply_instance_norm(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: Any, unexpected_keys: Any,
        error_msgs: Any,
    ) -> None:  # fmt: skip
        if local_metadata.get("version") is None and not self.track_running_stats:
            # Modules of the first PyTorch kept running statistics by default.
            found = [name for name in ("running_mean", "running_var") if prefix + name in state_dict]
            if found:
                names, kind = " and ".join(f'"{prefix}{name}"' for name in found), type(self).__name__
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {names} for {kind} with track_running_stats=False. Remove "
                    f"these keys from the state_dict, or set track_running_stats=True in {kind} to use them."
                )
            for name in found:
                state_dict.pop(prefix + name)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        feature_dim = input.dim() - self._get_no_batch_dim()
        if input.size(feature_dim) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={feature_dim} to match num_features ({self.num_features}), but got: "
                    f"{input.size(feature_dim)}."
                )
            warn(
                f"input's size at dim={feature_dim} does not match num_features. You can silence this warning by not "
                "passing in num_features, which is not used because affine=False"
            )
        if input.dim() == self._get_no_batch_dim():
            return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)
        return self._apply_instance_norm(input)


class InstanceNorm1d(_InstanceNorm):
    r"""Give each channel of each example mean 0 and variance 1: :math:`w (x - \mu) / \sqrt{\sigma^2 + \epsilon} + b`.

    Args:
        num_features: the number of channels, :math:`C`.
        eps: :math:`\epsilon` (default 1e-5).
        momentum: how far the running statistics move in each step (default 0.1).
        affine: whether the module has :math:`w`, which starts as ones, and :math:`b` (default False).
        track_running_stats: whether to keep running statistics, which evaluation then uses (default False).
        device: the device of the parameters and buffers.
        dtype: the floating-point dtype of the parameters and buffers.
        bias: whether an affine module has :math:`b`, which starts as zeros (default True).

    Shape:
        Input and output :math:`(N, C, L)` or :math:`(C, L)`.

    Raises:
        ValueError: (from a call) the number of dimensions is wrong, or a channel has only one value.

    Example:
        >>> torch.nn.InstanceNorm1d(2)(torch.randn(1, 2, 4)).shape
        torch.Size([1, 2, 4])

    Mirrors torch/nn/modules/instancenorm.py, ``InstanceNorm1d``.
    """

    def _get_no_batch_dim(self) -> int:
        return 2


class InstanceNorm2d(_InstanceNorm):
    r"""Give each channel of each image mean 0 and variance 1; see :class:`InstanceNorm1d` for the arguments.

    Shape:
        Input and output :math:`(N, C, H, W)` or :math:`(C, H, W)`.

    Raises:
        ValueError: (from a call) the number of dimensions is wrong, or a channel has only one value.

    Example:
        >>> torch.nn.InstanceNorm2d(2)(torch.randn(1, 2, 4, 4)).shape
        torch.Size([1, 2, 4, 4])

    Mirrors torch/nn/modules/instancenorm.py, ``InstanceNorm2d``.
    """

    def _get_no_batch_dim(self) -> int:
        return 3


class InstanceNorm3d(_InstanceNorm):
    r"""Give each channel of each volume mean 0 and variance 1; see :class:`InstanceNorm1d` for the arguments.

    Shape:
        Input and output :math:`(N, C, D, H, W)` or :math:`(C, D, H, W)`.

    Raises:
        ValueError: (from a call) the number of dimensions is wrong, or a channel has only one value.

    Example:
        >>> torch.nn.InstanceNorm3d(2)(torch.randn(1, 2, 4, 4, 4)).shape
        torch.Size([1, 2, 4, 4, 4])

    Mirrors torch/nn/modules/instancenorm.py, ``InstanceNorm3d``.
    """

    def _get_no_batch_dim(self) -> int:
        return 4


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    r"""An :class:`InstanceNorm1d` that takes ``num_features`` from its first input.

    Args:
        eps, momentum, affine, track_running_stats, device, dtype, bias: as for :class:`InstanceNorm1d`, but ``affine``
            and ``track_running_stats`` are True by default.

    Example:
        >>> layer = torch.nn.LazyInstanceNorm1d()
        >>> layer(torch.randn(1, 2, 4)).shape, layer.num_features
        (torch.Size([1, 2, 4]), 2)

    Mirrors torch/nn/modules/instancenorm.py, ``LazyInstanceNorm1d``.
    """

    cls_to_become = InstanceNorm1d

    def _get_no_batch_dim(self) -> int:
        return 2


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    r"""An :class:`InstanceNorm2d` that takes ``num_features`` from its first input.

    Args:
        eps, momentum, affine, track_running_stats, device, dtype, bias: as for :class:`InstanceNorm1d`, but ``affine``
            and ``track_running_stats`` are True by default.

    Example:
        >>> layer = torch.nn.LazyInstanceNorm2d()
        >>> layer(torch.randn(1, 2, 4, 4)).shape, layer.num_features
        (torch.Size([1, 2, 4, 4]), 2)

    Mirrors torch/nn/modules/instancenorm.py, ``LazyInstanceNorm2d``.
    """

    cls_to_become = InstanceNorm2d

    def _get_no_batch_dim(self) -> int:
        return 3


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    r"""An :class:`InstanceNorm3d` that takes ``num_features`` from its first input.

    Args:
        eps, momentum, affine, track_running_stats, device, dtype, bias: as for :class:`InstanceNorm1d`, but ``affine``
            and ``track_running_stats`` are True by default.

    Example:
        >>> layer = torch.nn.LazyInstanceNorm3d()
        >>> layer(torch.randn(1, 2, 4, 4, 4)).shape, layer.num_features
        (torch.Size([1, 2, 4, 4, 4]), 2)

    Mirrors torch/nn/modules/instancenorm.py, ``LazyInstanceNorm3d``.
    """

    cls_to_become = InstanceNorm3d

    def _get_no_batch_dim(self) -> int:
        return 4
