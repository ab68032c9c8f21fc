"""Normalization of channels over a batch.

Mirrors: torch/nn/modules/batchnorm.py
Here ``SyncBatchNorm`` imports ``reftorch.distributed`` when it runs, because few programs need it.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch.nn import functional as F
from reftorch.nn import init
from reftorch.nn.modules._functions import SyncBatchNorm as sync_batch_norm
from reftorch.nn.modules.lazy import LazyModuleMixin
from reftorch.nn.modules.module import Module
from reftorch.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "SyncBatchNorm",
]


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
    def _next_factor(self) -> float:
        """Count the batch, if training, and return the weight of its statistics in the running ones."""
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                return 1.0 / float(self.num_batches_tracked)
        return 0.0 if self.momentum is None else self.momentum

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        factor = self._next_factor()
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


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """A normalization that takes ``num_features`` from the channels of its first input."""

    weight: Any
    bias: Any
    running_mean: Any
    running_var: Any

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype)  # makes no parameter and no buffer
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = _C.tensor(0, dtype=_C.int64, device=device)

    def reset_parameters(self) -> None:
        """Reset the running statistics and the parameters, if they have shapes."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Take ``num_features`` from the input, and make parameters and running statistics."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for tensor in (self.weight, self.bias, self.running_mean, self.running_var):
                if isinstance(tensor, (UninitializedParameter, UninitializedBuffer)):
                    tensor.materialize((self.num_features,))
            self.reset_parameters()


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
        >>> torch.nn.BatchNorm3d(3)(torch.randn(2, 3, 2, 2, 2)).shape
        torch.Size([2, 3, 2, 2, 2])

    Mirrors torch/nn/modules/batchnorm.py, ``BatchNorm3d``.
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    r"""A :class:`BatchNorm1d` that takes ``num_features`` from its first input.

    Args:
        eps, momentum, affine, track_running_stats, device, dtype, bias: as for :class:`BatchNorm1d`.

    Example:
        >>> layer = torch.nn.LazyBatchNorm1d()
        >>> layer(torch.randn(2, 3, 4)).shape, layer.num_features
        (torch.Size([2, 3, 4]), 3)

    Mirrors torch/nn/modules/batchnorm.py, ``LazyBatchNorm1d``.
    """

    cls_to_become = BatchNorm1d

    def _check_input_dim(self, input: Tensor) -> None:
        BatchNorm1d._check_input_dim(self, input)  # type: ignore[arg-type]


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    r"""A :class:`BatchNorm2d` that takes ``num_features`` from its first input.

    Args:
        eps, momentum, affine, track_running_stats, device, dtype, bias: as for :class:`BatchNorm1d`.

    Example:
        >>> layer = torch.nn.LazyBatchNorm2d()
        >>> layer(torch.randn(2, 3, 4, 4)).shape, layer.num_features
        (torch.Size([2, 3, 4, 4]), 3)

    Mirrors torch/nn/modules/batchnorm.py, ``LazyBatchNorm2d``.
    """

    cls_to_become = BatchNorm2d

    def _check_input_dim(self, input: Tensor) -> None:
        BatchNorm2d._check_input_dim(self, input)  # type: ignore[arg-type]


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    r"""A :class:`BatchNorm3d` that takes ``num_features`` from its first input.

    Args:
        eps, momentum, affine, track_running_stats, device, dtype, bias: as for :class:`BatchNorm1d`.

    Example:
        >>> layer = torch.nn.LazyBatchNorm3d()
        >>> layer(torch.randn(2, 3, 4, 4, 4)).shape, layer.num_features
        (torch.Size([2, 3, 4, 4, 4]), 3)

    Mirrors torch/nn/modules/batchnorm.py, ``LazyBatchNorm3d``.
    """

    cls_to_become = BatchNorm3d

    def _check_input_dim(self, input: Tensor) -> None:
        BatchNorm3d._check_input_dim(self, input)  # type: ignore[arg-type]


class SyncBatchNorm(_BatchNorm):
    r"""Give each channel mean 0 and variance 1 over the batches of all processes.

    In training with several processes, all of them must call the module equally often, because it communicates in
    forward and in backward. Without other processes, and in evaluation, the module computes what :class:`BatchNorm2d`
    computes, for any number of dimensions. Tensors on the CPU are accepted, too; PyTorch refuses them.

    Args:
        num_features, eps, momentum, affine, track_running_stats, device, dtype, bias: as for :class:`BatchNorm1d`.
        process_group: the processes that share statistics; all if None.

    Shape:
        Input and output :math:`(N, C, *)`. :math:`N` may differ between processes, and be 0 on some.

    Raises:
        ValueError: (from a call) the input has fewer than two dimensions, or a channel has only one value in training.

    Example:
        >>> net = torch.nn.Sequential(torch.nn.BatchNorm2d(3))
        >>> torch.nn.SyncBatchNorm.convert_sync_batchnorm(net)[0](torch.randn(2, 3, 4, 4)).shape
        torch.Size([2, 3, 4, 4])

    Mirrors torch/nn/modules/batchnorm.py, ``SyncBatchNorm``.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def _check_non_zero_input_channels(self, input: Tensor) -> None:
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        self._check_non_zero_input_channels(input)
        from reftorch.distributed import distributed_c10d as c10d

        group = self.process_group
        if not self.training or (group is None and not c10d.is_initialized()):
            return super().forward(input)
        world_size = c10d.get_world_size(group)
        if world_size == 1:
            return super().forward(input)
        tracked = self.track_running_stats
        return sync_batch_norm.apply(
            input,
            self.weight,
            self.bias,
            self.running_mean if tracked else None,
            self.running_var if tracked else None,
            self.eps,
            self._next_factor(),
            group,
            world_size,
        )

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """Replace every batch normalization in a module by a :class:`SyncBatchNorm` with the same parameters.

        Args:
            module: a module; its children are replaced in place.
            process_group: the processes that share statistics; all if None.

        Returns:
            ``module``, or its replacement if it is a batch normalization itself.

        Mirrors torch/nn/modules/batchnorm.py, ``SyncBatchNorm.convert_sync_batchnorm``.
        """
        result = module
        if isinstance(module, _BatchNorm):
            result = cls(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                process_group, bias=module.bias is not None,
            )  # fmt: skip
            if module.affine:
                result.weight, result.bias = module.weight, module.bias
            result.running_mean, result.running_var = module.running_mean, module.running_var
            result.num_batches_tracked = module.num_batches_tracked
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result
