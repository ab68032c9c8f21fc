"""Mixed precision of ``DistributedDataParallel``: passes compute in 16 bits, and the optimizer changes 32 bits.

Mirrors: torch/nn/parallel/distributed.py (``_MixedPrecision``, which is imported there)
Leaves out: side streams. The hook that sums in ``reduce_dtype`` is in
``distributed/algorithms/ddp_comm_hooks/mixed_precision_hooks.py``.

Note [Mixed precision]
Problem: a module shall compute in 16 bits, and the optimizer shall change parameters of 32 bits, because small steps
would be lost in rounding. Trick: before the module runs, each parameter is given a copy of its numbers in
``param_dtype`` as its data, so that the whole pass computes, and makes gradients, in this dtype. A parameter whose
dtype changes gets another AccumulateGrad node, so the Reducer hooks onto the new nodes, in each pass. Buckets have
``param_dtype``, too; a hook converts them to ``reduce_dtype`` before they travel. When backward has ended, the
parameters get their own data back, and the averages become gradients of the parameters' own dtype. Limits: between a
forward and its backward the program sees the copies. Gradients that are kept for the next pass are rounded to
``param_dtype`` before that pass adds to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from reftorch.autograd.grad_mode import no_grad

__all__: list[str] = []


@dataclass
class _MixedPrecision:
    """The dtypes of a pass. See Note [Mixed precision].

    Args:
        param_dtype: of the parameters and of floating inputs, and so of what is computed; their own if None.
        reduce_dtype: in which the ranks add their gradients; that of the gradients if None.
        buffer_dtype: of floating buffers, from the constructor on; their own if None.

    Example:
        >>> from reftorch.nn.parallel.distributed import _MixedPrecision
        >>> _MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.float32).reduce_dtype
        torch.float32

    Mirrors torch/nn/parallel/distributed.py, ``_MixedPrecision``.
    """

    param_dtype: Any = None
    reduce_dtype: Any = None
    buffer_dtype: Any = None


class _ParameterCopies:
    """The parameters whose dtype changes for the time of a pass. See Note [Mixed precision].

    Each of them has two attributes. ``_fp_param`` holds the numbers that the optimizer changes, and ``_mp_param`` the
    copy that a pass computes with, or no numbers between two passes.

    Args:
        parameters: the parameters of the module; those that are not floating are left alone.
        dtype: of the copies.

    Mirrors torch/nn/parallel/distributed.py, ``_setup_mixed_precision_params``.
    """

    def __init__(self, parameters: Iterable[Any] = (), dtype: Any = None) -> None:
        self.parameters = [p for p in parameters if p.is_floating_point()]
        self.in_use = False
        for p in self.parameters:
            p._mp_param, p._fp_param = p.new_empty(0, dtype=dtype), p.data

    @no_grad()
    def use(self) -> bool:
        """Give each parameter a copy of its numbers as its data, for one pass.

        Returns:
            Whether parameters were changed, and so have new AccumulateGrad nodes. If the copies of an earlier pass are
            still in use, nothing changes: the end of one backward ends both passes.
        """
        if not self.parameters or self.in_use:
            return False
        self.in_use = True
        for p in self.parameters:
            kept, p._fp_param = p.grad, p.data
            p._mp_param = p.data.to(p._mp_param.dtype)
            p.grad = None
            p.data = p._mp_param
            if kept is not None:
                p.grad = kept.to(p.dtype)
        return True

    @no_grad()
    def restore(self) -> None:
        """Give each parameter its own data back, and convert its gradient."""
        if not self.in_use:
            return
        self.in_use = False
        for p in self.parameters:
            gradient, p.grad = p.grad, None
            p.data = p._fp_param
            p._mp_param = p._mp_param.new_empty(0)
            if gradient is not None:
                p.grad = gradient.to(p.dtype)  # a new tensor: the gradient of the pass may be a view of a bucket


def _cast_buffers(buffers: Iterable[Any], dtype: Any) -> None:
    """Convert floating buffers to a dtype, once and for all; None leaves them as they are.

    Mirrors torch/nn/parallel/distributed.py, the function of this name.
    """
    for buffer in buffers:
        if dtype is not None and buffer.is_floating_point():
            buffer.data = buffer.to(dtype)
