"""Normalization of channels over a batch.

Mirrors: torch/nn/modules/batchnorm.py
Leaves out: the lazy modules, and ``SyncBatchNorm``.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn import init
from reftorch.nn.modules.module import Module
from reftorch.nn.parameter import Parameter

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d"]


class _NormBase(Module):
    """The parameters and running statistics of a normalization."""

    _version = 2  # version 2 added num_batches_tracked

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            empty = Parameter(_VF.empty(num_features, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, empty)
        for name in ("running_mean", "running_var"):
            stats = _VF.empty(num_features, device=device, dtype=dtype) if track_running_stats else None
            self.register_buffer(name, stats)
        count = _C.tensor(0, dtype=_C.int64, device=device) if track_running_stats else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Reset the running statistics to mean 0 and variance 1."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Reset the running statistics and the parameters."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError(f"{type(self).__name__}._check_input_dim")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *args: Any) -> None:
        key = prefix + "num_batches_tracked"
        if (local_metadata.get("version") or 1) < 2 and self.track_running_stats and key not in state_dict:
            state_dict[key] = _C.tensor(0) if self.num_batches_tracked is None else self.num_batches_tracked
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        tracked = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if tracked else None,
            self.running_var if tracked else None,
            self.weight,
            self.bias,
            self.training or (self.running_mean is None and self.running_var is None),
            factor,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    r"""Give each channel mean 0 and variance 1 over the batch: :math:`w (x - \mu) / \sqrt{\sigma^2 + \epsilon} + b`.

    In training, :math:`\mu` and :math:`\sigma^2` are the batch's own; in evaluation, they are the running statistics,
    which each training step moves towards those of the batch.

    Args:
        num_features: the number of channels, :math:`C`.
        eps: :math:`\epsilon` (default 1e-5).
        momentum: how far the running statistics move in each step (default 0.1); None averages over all batches.
        affine: whether the module has :math:`w`, which starts as ones, and :math:`b` (default True).
        track_running_stats: whether to keep running statistics; if not, evaluation uses the batch's own (default True).
        device: the device of the parameters and buffers.
        dtype: the floating-point dtype of the parameters and buffers.
        bias: whether the module has :math:`b`, which starts as zeros (default True).

    Shape:
        Input and output :math:`(N, C)` or :math:`(N, C, L)`.

    Raises:
        ValueError: (from a call) the number of dimensions is wrong, or a channel has only one value in training.

    Example:
        >>> import reftorch as torch
        >>> layer = torch.nn.BatchNorm1d(1, affine=False)
        >>> layer(torch.tensor([[1.0], [3.0]]))
        tensor([[-1.0000],
                [ 1.0000]])
        >>> layer.running_mean
        tensor([0.2000])

    Mirrors torch/nn/modules/batchnorm.py, ``BatchNorm1d``.
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class BatchNorm2d(_BatchNorm):
    r"""Give each channel of images mean 0 and variance 1 over the batch; see :class:`BatchNorm1d`.

    Shape:
        Input and output :math:`(N, C, H, W)`.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.BatchNorm2d(3)(torch.randn(2, 3, 4, 4)).shape
        torch.Size([2, 3, 4, 4])

    Mirrors torch/nn/modules/batchnorm.py, ``BatchNorm2d``.
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class BatchNorm3d(_BatchNorm):
    r"""Give each channel of volumes mean 0 and variance 1 over the batch; see :class:`BatchNorm1d`.

    Shape:
        Input and output :math:`(N, C, D, H, W)`.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.BatchNorm3d(3)(torch.randn(2, 3, 2, 2, 2)).shape
        torch.Size([2, 3, 2, 2, 2])

    Mirrors torch/nn/modules/batchnorm.py, ``BatchNorm3d``.
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")
