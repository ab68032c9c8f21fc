"""Parameters of ``DistributedDataParallel`` whose gradients are averaged all at once, late in backward.

Mirrors: torch/nn/parallel/distributed.py (``DistributedDataParallel._register_delay_all_reduce_hook``)
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from reftorch import _VF
from reftorch.autograd import Variable
from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed._reducer import _broadcast_coalesced, _share_memory

__all__: list[str] = []


class _DelayedAverages:
    """The parameters of ``delay_all_reduce_named_params``, and the flat buffer that their gradients share.

    The Reducer does not know these parameters. Backward adds their gradients directly in the buffer, and a hook of one
    other parameter, ``hooked``, starts a single all-reduce of the buffer.

    Args:
        named: names and parameters; None if there are none, which is the usual case.
        hooked: the other parameter. Backward must reach it after all of those.
        mixed_precision: that of the module, which must be None if there are delayed parameters.

    Raises:
        ValueError: the arguments do not fit each other.

    Mirrors torch/nn/parallel/distributed.py, the arguments ``delay_all_reduce_named_params`` and
    ``param_to_hook_all_reduce``.
    """

    def __init__(self, named: Sequence[tuple[str, Any]] | None, hooked: Any, mixed_precision: Any = None) -> None:
        if (named is None) != (hooked is None):
            raise ValueError(
                "delay_all_reduce_named_params and param_to_hook_all_reduce need to be set at the same time."
            )
        self.named = dict(named or ())
        self.parameters = list(self.named.values())
        self.hooked = hooked
        self.views: list[Any] = []  # of the buffer: one gradient each
        if len({(p.dtype, p.device) for p in self.parameters}) > 1:
            raise ValueError("delay_all_reduce_named_params must have one dtype and one device: they share a buffer")
        if any(p is hooked for p in self.parameters):
            raise ValueError(
                "param_to_hook_all_reduce must not be among delay_all_reduce_named_params: its own gradient would come "
                "after the average"
            )
        if self.parameters and mixed_precision is not None:
            raise ValueError("delay_all_reduce_named_params and mixed_precision cannot be set at the same time")

    def start(self, ddp: Any, init_sync: bool) -> None:
        """Make the buffer, and average it whenever ``hooked`` has its gradient.

        Args:
            ddp: the module, which owns this object. The hook holds the module weakly, and does nothing without it.
            init_sync: whether all ranks begin with the parameters of rank 0.
        """
        if init_sync:
            detached = [p.detach() for p in self.parameters]
            _broadcast_coalesced(ddp.process_group, detached, ddp.broadcast_bucket_size, 0)
        first, sizes = self.parameters[0], [p.numel() for p in self.parameters]
        buffer = _VF.zeros(sum(sizes), dtype=first.dtype, device=first.device)
        pieces = buffer.split(sizes)
        self.views = [piece.view(p.shape) for piece, p in zip(pieces, self.parameters, strict=True)]
        reference = weakref.ref(ddp)

        def reduce(grad: Any) -> None:
            ddp = reference()
            if ddp is not None:
                buffer.div_(ddp.process_group.size())
                work: Any = c10d.all_reduce(buffer, group=ddp.process_group, async_op=True)
                Variable._execution_engine.queue_callback(work.wait)

        self.hooked.register_hook(reduce)

    def begin_pass(self) -> None:
        """Let backward add the gradients in the buffer; those that were set to None begin with zeros."""
        for p, view in zip(self.parameters, self.views, strict=True):
            if p.grad is None:
                p.grad = view.zero_()
            elif not _share_memory(p.grad, view):
                p.grad = view.copy_(p.grad)
