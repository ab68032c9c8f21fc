"""Selective checkpointing: a policy says which ops are computed once and kept, and which are computed again.

Two dispatch modes share a storage. The first is open in the forward call, and keeps the results that the policy wants
to save. The second is open in the recomputation: it returns a kept result in place of running the op. Both count the
calls of each op, so that the n-th call of the recomputation finds the n-th result.

Mirrors: torch/utils/checkpoint.py
Leaves out: compiled regions.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch._ops import OpOverload, OpOverloadPacket, ops
from reftorch.utils._python_dispatch import TorchDispatchMode
from reftorch.utils._pytree import tree_map

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "create_selective_checkpoint_contexts",
]


class SelectiveCheckpointContext:
    """What a policy learns about a call besides the op and its arguments.

    Attributes:
        is_recompute: always False, because the policy is asked in the forward call only.
        op_output: the result of the op.

    Mirrors torch/utils/checkpoint.py, ``SelectiveCheckpointContext``.
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


class CheckpointPolicy(enum.Enum):
    """What happens to the result of an op in a checkpoint.

    ``MUST_SAVE`` and ``PREFER_SAVE`` keep the result. All others compute the op again; the two that offload results to
    the CPU are for compilers. ``PREFER`` and ``MUST`` differ for compilers only.

    Mirrors torch/utils/checkpoint.py, ``CheckpointPolicy``.
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


SAC_IGNORED_OPS = {ops.aten.detach.default}  # the forward call and the recomputation detach differently often

_RECOMPUTE = object()
_CONSUMED = object()
_MISMATCH = (
    "This can happen if the operations in the checkpointed region are nondeterministic or depend on global state that "
    "changed between forward and backward."
)

Storage = dict[OpOverload, dict[int, Any]]
Policy = Callable[..., "CheckpointPolicy | bool"]


class _Kept:
    """A result that is kept, with the version it had: an in-place op on the tensor would make it wrong."""

    def __init__(self, value: Any) -> None:
        # Detached, because the tensor itself will refer to the graph, and the graph refers to the storage.
        self.value = value.detach() if isinstance(value, _C.TensorBase) else value
        self.version = self.value._version if isinstance(value, _C.TensorBase) else None

    def get(self, allow_mutation: bool) -> Any:
        if self.version is not None and not allow_mutation and self.value._version != self.version:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        return self.value


class _CachingTorchDispatchMode(TorchDispatchMode):
    """Runs each op, and keeps the result if the policy says so.

    Mirrors torch/utils/checkpoint.py, ``_CachingTorchDispatchMode``.
    """

    def __init__(self, policy_fn: Policy, storage: Storage) -> None:
        self.policy_fn = policy_fn
        self.storage = storage
        self.func_counter: dict[OpOverload, int] = defaultdict(int)

    def __torch_dispatch__(
        self, func: OpOverload, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if func in SAC_IGNORED_OPS:
            return out
        index = self.func_counter[func]
        self.func_counter[func] += 1
        context = SelectiveCheckpointContext(is_recompute=False, op_output=out)
        policy = self.policy_fn(context, func, *args, **kwargs)
        save = policy in (True, CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
        self.storage[func][index] = tree_map(_Kept, out) if save else _RECOMPUTE
        return out


class _CachedTorchDispatchMode(TorchDispatchMode):
    """Returns the results that were kept, and runs the other ops again.

    Mirrors torch/utils/checkpoint.py, ``_CachedTorchDispatchMode``.
    """

    def __init__(self, policy_fn: Any, storage: Storage, allow_cache_entry_mutation: bool = False) -> None:
        self.storage = storage
        self.allow_cache_entry_mutation = allow_cache_entry_mutation
        self.func_counter: dict[OpOverload, int] = defaultdict(int)

    def __enter__(self) -> Any:
        self.func_counter.clear()  # each recomputation counts from the first call
        return super().__enter__()

    def __torch_dispatch__(
        self, func: OpOverload, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func in SAC_IGNORED_OPS:
            return func(*args, **(kwargs or {}))
        index = self.func_counter[func]
        self.func_counter[func] += 1
        if func not in self.storage:
            raise RuntimeError(f"{func} encountered during backward but not found in storage. {_MISMATCH}")
        results = self.storage[func]
        if index not in results:
            raise RuntimeError(
                f"{func} invocation index {index} encountered during backward but not found in storage. {_MISMATCH}"
            )
        entry = results[index]
        if entry is _CONSUMED:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any region computed under "
                "selective activation checkpoint."
            )
        if entry is _RECOMPUTE:
            return func(*args, **(kwargs or {}))
        results[index] = _CONSUMED
        return tree_map(lambda kept: kept.get(self.allow_cache_entry_mutation), entry)


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Policy | list[OpOverload], allow_cache_entry_mutation: bool = False
) -> tuple[TorchDispatchMode, TorchDispatchMode]:
    """Return the two contexts of a checkpoint that keeps the results of some ops.

    Give it to :func:`checkpoint` as ``context_fn``, with the first argument bound.

    Args:
        policy_fn_or_list: the list of the ops whose results are kept, such as ``[torch.ops.aten.mm.default]``; or a
            function that takes a :class:`SelectiveCheckpointContext`, the op, and its arguments, and returns a
            :class:`CheckpointPolicy`.
        allow_cache_entry_mutation: whether results that were kept may be changed in place by the program.

    Returns:
        A mode for the forward call, and a mode for the recomputation.

    Raises:
        ValueError: an entry of the list is not an overload.
        TypeError: the first argument is neither a list nor a function.
        RuntimeError: (in backward) the recomputation calls other ops than the forward call, a kept result was changed
            in place, or the checkpoint is passed twice.

    Example:
        >>> import functools
        >>> from reftorch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
        >>> keep = functools.partial(create_selective_checkpoint_contexts, [torch.ops.aten.mm.default])
        >>> x = torch.ones(2, 2, requires_grad=True)
        >>> y = checkpoint(lambda x: (x @ x).sin(), x, use_reentrant=False, context_fn=keep)
        >>> y.sum().backward()  # computes sin again, and not the product

    Mirrors torch/utils/checkpoint.py, ``create_selective_checkpoint_contexts``.
    """
    if isinstance(policy_fn_or_list, list):
        saved = policy_fn_or_list
        for op in saved:
            if not isinstance(op, OpOverload):
                hint = (
                    "Please update the OpOverloadPacket to a specific OpOverload.For example, if you have "
                    "`torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
                )
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. "
                    f"{hint if isinstance(op, OpOverloadPacket) else ''}"
                )

        def policy(context: SelectiveCheckpointContext, op: OpOverload, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            return CheckpointPolicy.MUST_SAVE if op in saved else CheckpointPolicy.PREFER_RECOMPUTE

    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list  # type: ignore[assignment]
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    storage: Storage = defaultdict(dict)
    return (
        _CachingTorchDispatchMode(policy, storage),
        _CachedTorchDispatchMode(None, storage, allow_cache_entry_mutation),
    )
