"""A checkpointed call: it is recorded with empty holders for the saved tensors, and a recomputation fills the holders.

Mirrors: torch/utils/checkpoint.py, ``_CheckpointFrame``, ``GraphExecGroup``
"""

from __future__ import annotations

import contextlib
import uuid
import weakref
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch._thread_local import ThreadLocal
from reftorch.autograd import SavedTensor
from reftorch.autograd.grad_mode import enable_grad
from reftorch.autograd.graph import saved_tensors_hooks
from reftorch.utils.checkpoint.log import OpLog, error_text

__all__ = ["DETERMINISM_CHECKS", "CheckpointError", "CheckpointFrame", "GraphExecGroup"]

_PUBLIC = "reftorch.utils.checkpoint"


class CheckpointError(RuntimeError):
    """The recomputation did not save what the forward call saved.

    Mirrors torch/utils/checkpoint.py, ``CheckpointError``.
    """

    __module__ = _PUBLIC


class _Group(ThreadLocal):
    current: GraphExecGroup | None = None


class GraphExecGroup:
    """A context in which several backward passes over different parts of a graph share one recomputation.

    Two passes inside the context must not need the same saved tensor, even if the graph is retained.

    Raises:
        RuntimeError: (on entering) another group has been entered.

    Example:
        >>> from reftorch.utils.checkpoint import GraphExecGroup, checkpoint
        >>> x = torch.zeros(1, requires_grad=True)
        >>> y, z = checkpoint(lambda x: (x.exp(), x.exp().exp()), x, use_reentrant=False)
        >>> with GraphExecGroup():
        ...     y.backward()
        ...     z.backward()

    Mirrors torch/utils/checkpoint.py, ``GraphExecGroup``.
    """

    __module__ = _PUBLIC

    _local = _Group()

    def __enter__(self) -> GraphExecGroup:
        if self._local.current is not None:
            raise RuntimeError(f"GraphExecGroup contexts cannot be nested. Already inside group {self._local.current}")
        self._local.current = self
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._local.current = None

    @classmethod
    def _current(cls) -> GraphExecGroup | None:
        return cls._local.current


# Note [Checkpoints in checkpoints]
# Problem: a checkpointed function may itself call checkpoint or backward.
# Trick: three rules. (1) A saved tensor belongs to the innermost checkpoint; the checkpoints outside do not see it.
# (2) The inputs of an inner checkpoint are saved as the inputs of an op are, so they belong to the next outer
# checkpoint: before the inner one can be recomputed, unpacking its inputs recomputes the outer one. (3) The result of a
# recomputation serves one backward pass, and each tensor in it is unpacked once. A holder is emptied when it is read,
# so memory does not grow, even if the graph is retained. Each pass has a number; an unpacking outside of passes counts
# as one pass.


class _Handle:
    """Represents one recomputed tensor in one pass. The handle keeps the tensor alive."""


class _Holder:
    """Stands in place of a saved tensor: holds for each pass the recomputed tensor's handle, or None once read."""

    def __init__(self) -> None:
        self.handles: dict[Any, _Handle | None] = {}


class _StopRecomputationError(Exception):
    """Ends a recomputation as soon as all the needed tensors exist."""


class CheckpointFrame:
    """One call of checkpoint: the data for running it again, and the tensors that each pass has recomputed."""

    def __init__(
        self,
        recompute: Callable[..., None],
        early_stop: bool,
        describe: Callable[[Any], Any] | None,
        logs: tuple[OpLog, OpLog] | None,
    ) -> None:
        self.recompute = recompute
        self.early_stop = early_stop
        self.describe = describe
        self.logs = logs
        self.saved_args: list[Any] = []
        self.holders: list[weakref.ref[_Holder]] = []
        self.descriptions: list[Any] = []
        self.recomputed: defaultdict[Any, weakref.WeakKeyDictionary[_Handle, Any]] = defaultdict(
            weakref.WeakKeyDictionary
        )
        self.counts: defaultdict[Any, int] = defaultdict(int)
        self.done: set[Any] = set()
        self.forward_completed = False
        self.ignore_mismatch = False

    def save_inputs(self, args: tuple[Any, ...]) -> None:
        self.saved_args = [
            _C._autograd._make_saved_tensor(arg, is_output=False) if isinstance(arg, _C.TensorBase) else arg
            for arg in args
        ]

    def inputs(self) -> list[Any]:
        return [arg.unpack() if isinstance(arg, SavedTensor) else arg for arg in self.saved_args]

    # --- in the forward call

    def pack(self, tensor: Any) -> _Holder:
        holder = _Holder()
        self.holders.append(weakref.ref(holder))
        if self.describe is not None:
            self.descriptions.append(self.describe(tensor))
        return holder

    def unpack(self, holder: _Holder) -> Any:
        if self.logs is None:
            return self._unpack(holder)
        try:
            return self._unpack(holder)
        except CheckpointError as error:
            raise CheckpointError(error_text(*self.logs)) from error

    def _unpack(self, holder: _Holder) -> Any:
        in_group = GraphExecGroup._current()
        task: Any = in_group if in_group is not None else _C._current_graph_task_id()
        if task == -1:
            task = uuid.uuid4()
        if task not in self.done:
            with contextlib.suppress(_StopRecomputationError):
                hooks = _recomputation_hooks(weakref.ref(self), task)
                args = self.inputs()
                with hooks, enable_grad():
                    self.recompute(*args)
            self.done.add(task)
            self.check_match(task)
        handle = holder.handles[task]
        if handle is None:
            overlap = (
                "Performing two backward calls that overlap (i.e. require the same saved activation in order to "
                "compute gradients) is not allowed while under the torch.utils.checkpoint.GraphExecGroup context. "
            )
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. "
                f"{overlap if in_group is not None else ''}If you are calling ctx.saved_tensors in backward, make sure "
                "to do so only once."
            )
        holder.handles[task] = None
        return self.recomputed[task][handle]

    # --- in the recomputation

    def find(self, tensor: Any, task: Any) -> Any:
        """Fill the next holder. The graph of the recomputation gets the tensor itself, for a backward pass inside."""
        tensor = tensor.detach() if tensor.requires_grad else tensor
        index = self.counts[task]
        self.counts[task] += 1
        if index >= len(self.holders):
            if not self.forward_completed:  # a backward pass inside the forward call: more tensors will be saved later
                self.ignore_mismatch = True
                return tensor
            raise CheckpointError(
                "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original "
                f"forward pass.{_TIP}"
            )
        holder = self.holders[index]()
        if holder is not None:  # None: a backward pass inside the forward call has freed that part of the graph
            handle = _Handle()
            holder.handles[task] = handle
            self.recomputed[task][handle] = tensor
        if self.early_stop and self.counts[task] == len(self.holders):
            raise _StopRecomputationError
        return tensor

    def check_match(self, task: Any) -> None:
        if self.ignore_mismatch:
            return
        if self.counts[task] != len(self.holders):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.holders)}\nNumber of tensors saved "
                f"during recomputation: {self.counts[task]}.{_TIP}"
            )
        if self.describe is None:
            return
        differing = []
        for index, ref in enumerate(self.holders):
            holder = ref()
            handle = None if holder is None else holder.handles[task]
            if handle is None:
                continue
            found = self.describe(self.recomputed[task][handle])
            if found != self.descriptions[index]:
                differing.append(
                    f"tensor at position {index}:\nsaved metadata: {self.descriptions[index]}\n"
                    f"recomputed metadata: {found}\n"
                )
        if differing:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{''.join(differing)}{_TIP}"
            )


_TIP = (
    "\nHint: the function did something else the second time. To see the ops of both runs, pass `debug=True` to "
    "`torch.utils.checkpoint.checkpoint(...)`, or wrap the code block with `with "
    "torch.utils.checkpoint.set_checkpoint_debug_enabled(True):`."
)


def _recomputation_hooks(frame_ref: weakref.ref[CheckpointFrame], task: Any) -> saved_tensors_hooks:
    """Make the hooks of a recomputation. They hold the frame weakly, because the recomputed graph holds them."""

    def pack(tensor: Any) -> Any:
        frame = frame_ref()
        assert frame is not None, "the frame is alive while it recomputes"
        return frame.find(tensor, task)

    return saved_tensors_hooks(pack, lambda tensor: tensor)


def _metadata(tensor: Any) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


DETERMINISM_CHECKS: dict[str, Callable[[Any], Any] | None] = {"default": _metadata, "none": None}
