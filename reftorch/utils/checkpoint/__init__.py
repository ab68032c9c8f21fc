"""Checkpointing saves memory at the cost of time: tensors for the backward pass are dropped and recomputed.

There are two implementations. The first, ``use_reentrant=True``, runs the function without recording inside an
autograd.Function. The ``backward`` of that Function runs the function again with recording, and then runs a backward
pass of its own. The second, ``use_reentrant=False``, records as usual, but with hooks that save an empty holder in
place of each tensor. When backward unpacks the first holder, the whole function runs again, and the hooks of that run
fill all holders: see Note [Checkpoints in checkpoints].

Mirrors: torch/utils/checkpoint.py
Leaves out: the random numbers of other devices in a recomputation; compiled regions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from reftorch import _C, _places, random
from reftorch._warnings import warn
from reftorch.autograd import _is_checkpoint_valid, backward
from reftorch.autograd.function import Function
from reftorch.autograd.grad_mode import enable_grad, no_grad
from reftorch.autograd.graph import saved_tensors_hooks
from reftorch.utils.checkpoint.devices import (
    DefaultDeviceType,
    _autocast_as,
    _autocast_state,
    get_device_states,
    set_device_states,
)
from reftorch.utils.checkpoint.frame import DETERMINISM_CHECKS, CheckpointError, CheckpointFrame, GraphExecGroup
from reftorch.utils.checkpoint.log import OpLog
from reftorch.utils.checkpoint.selective import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "GraphExecGroup",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


class _Settings:
    """The settings that context managers make for all checkpoints inside; None means that each call decides."""

    early_stop: bool | None = None
    debug: bool | None = None


def _setting(name: str, value: bool | None) -> Iterator[None]:
    former = getattr(_Settings, name)
    setattr(_Settings, name, value)
    try:
        yield
    finally:
        setattr(_Settings, name, former)


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Choose whether recomputation stops early, for the checkpoints whose forward runs inside the block.

    An early stop ends the recomputation as soon as all the needed tensors exist.

    Args:
        enable: overrides the ``early_stop`` of each call.

    Example:
        >>> from reftorch.utils.checkpoint import checkpoint, set_checkpoint_early_stop
        >>> x = torch.ones(2, requires_grad=True)
        >>> with set_checkpoint_early_stop(False):
        ...     y = checkpoint(torch.exp, x, use_reentrant=False)
        >>> y.sum().backward()

    Mirrors torch/utils/checkpoint.py, ``set_checkpoint_early_stop``.
    """
    yield from _setting("early_stop", enable)


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Choose whether errors list the ops of both runs, for the checkpoints whose forward runs inside the block.

    Args:
        enabled: overrides the ``debug`` of each call; None leaves the choice to each call.

    Example:
        >>> from reftorch.utils.checkpoint import CheckpointError, checkpoint, set_checkpoint_debug_enabled
        >>> steps = iter([torch.sin, torch.neg])  # not the same in the second run
        >>> with set_checkpoint_debug_enabled(True):
        ...     y = checkpoint(lambda x: next(steps)(x), torch.ones(2, requires_grad=True), use_reentrant=False)
        >>> try:
        ...     y.sum().backward()
        ... except CheckpointError as error:
        ...     print(next(line for line in str(error).splitlines() if "neg" in line))
        aten::neg(float32[2])   (1 of 1 in recompute)

    Mirrors torch/utils/checkpoint.py, ``set_checkpoint_debug_enabled``.
    """
    yield from _setting("debug", enabled)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the inputs without their histories; tensors that require a gradient become leaves that require one.

    Args:
        inputs: a tuple of any values.

    Raises:
        RuntimeError: ``inputs`` is not a tuple.

    Example:
        >>> from reftorch.utils.checkpoint import detach_variable
        >>> x = torch.ones(2, requires_grad=True) * 2
        >>> detach_variable((x, "text"))
        (tensor([2., 2.], requires_grad=True), 'text')

    Mirrors torch/utils/checkpoint.py, ``detach_variable``.
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, _C.TensorBase) else x for x in inputs)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no input requires a gradient, because the reentrant implementation then gives parameters none either.

    Mirrors torch/utils/checkpoint.py, ``check_backward_validity``.
    """
    if not any(x.requires_grad for x in inputs if isinstance(x, _C.TensorBase)):
        warn("None of the inputs have requires_grad=True. Gradients will be None")


def noop_context_fn() -> Contexts:
    """Return two contexts that do nothing: one for the forward call, one for the recomputation.

    Mirrors torch/utils/checkpoint.py, ``noop_context_fn``.
    """
    return nullcontext(), nullcontext()


# ---- the reentrant implementation


def _is_recorded(value: Any) -> bool:
    return isinstance(value, _C.TensorBase) and value.requires_grad


class CheckpointFunction(Function):
    """Runs a function without recording, and runs it again with recording in backward.

    Mirrors torch/utils/checkpoint.py, ``CheckpointFunction``.
    """

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """Run the function, and save its inputs."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.rng_state = random.get_rng_state() if preserve_rng_state else None
        ctx.autocast_state = _autocast_state()
        ctx.others = [None if isinstance(arg, _C.TensorBase) else arg for arg in args]
        ctx.save_for_backward(*(arg if isinstance(arg, _C.TensorBase) else None for arg in args))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """Run the function again, and run a backward pass through its graph."""
        if not _is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        inputs = tuple(o if t is None else t for t, o in zip(ctx.saved_tensors, ctx.others, strict=True))
        detached = detach_variable(inputs)
        with random.fork_rng(enabled=ctx.rng_state is not None), enable_grad(), _autocast_as(ctx.autocast_state):
            if ctx.rng_state is not None:
                random.set_rng_state(ctx.rng_state)
            outputs = ctx.run_function(*detached)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        recorded = [pair for pair in zip(outputs, args, strict=True) if _is_recorded(pair[0])]
        if not recorded:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([out for out, _ in recorded], [grad for _, grad in recorded])
        return None, None, *(x.grad if isinstance(x, _C.TensorBase) else None for x in detached)


# ---- the other implementation


def _recompute(function: Callable[..., Any], preserve: bool, context: Any, kwargs: dict[str, Any]) -> Any:
    state = random.get_rng_state() if preserve else None
    autocast_state = _autocast_state()

    def recompute(*args: Any) -> None:
        with random.fork_rng(enabled=preserve), _autocast_as(autocast_state), context:
            if state is not None:
                random.set_rng_state(state)
            function(*args, **kwargs)

    return recompute


def _checkpoint_without_reentrant(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    preserve: bool,
    context_fn: Callable[[], Contexts],
    determinism_check: str,
    debug: bool,
    early_stop: bool,
) -> Any:
    logs = None
    if _Settings.debug if _Settings.debug is not None else debug:
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        logs = OpLog(), OpLog()
    if determinism_check not in DETERMINISM_CHECKS:
        raise ValueError(f"determinism_check should be one of {list(DETERMINISM_CHECKS)}, but got {determinism_check}")
    forward_context, recompute_context = context_fn() if logs is None else logs
    if not _C.is_grad_enabled():
        return function(*args, **kwargs)
    frame = CheckpointFrame(
        _recompute(function, preserve, recompute_context, kwargs),
        _Settings.early_stop if _Settings.early_stop is not None else early_stop,
        DETERMINISM_CHECKS[determinism_check],
        logs,
    )
    frame.save_inputs(args)
    with saved_tensors_hooks(frame.pack, frame.unpack), forward_context:
        outputs = function(*args, **kwargs)
        frame.forward_completed = True
    if not frame.forward_completed:
        raise RuntimeError(
            "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised during "
            "the checkpointed forward. This is not supported because checkpoint cannot return a value for a failed "
            "forward."
        )
    return outputs


# ---- the public functions


def _warn_of_default(where: str) -> None:
    warn(
        f"{where}: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling "
        "checkpoint without use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need "
        "to preserve the current default behavior, you can pass use_reentrant=True.",
    )


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call ``function(*args)``, and call it again in backward instead of saving the tensors of its ops.

    The second call must repeat the first. It draws the same random numbers, but a changed global makes the gradients
    wrong without notice; an error is raised only if the saved tensors differ visibly.

    Args:
        function: the function to call.
        args: its arguments. They are kept until backward.
        use_reentrant: which implementation to use; it should be given. False has no restrictions. True is the older
            one: it takes no keyword arguments, needs an input that requires a gradient, finds only tensors that are
            direct elements of ``args``, and allows only ``backward()`` without ``inputs``. None means True, with a
            warning.
        context_fn: returns two contexts, in which the call and the recomputation run; not with ``use_reentrant=True``.
        determinism_check: ``"default"`` compares the shapes, dtypes and devices of the tensors that the two calls save;
            ``"none"`` compares nothing.
        debug: show the ops of both calls if they differ; not with ``use_reentrant=True``.
        early_stop: stop the recomputation as soon as all the needed tensors exist.
        kwargs: ``preserve_rng_state`` (default True) makes the second call draw the same random numbers. With
            ``use_reentrant=False``, all other keyword arguments go to ``function``.

    Returns:
        The return value of ``function``.

    Raises:
        ValueError: the implementation does not take one of the arguments.
        CheckpointError: (in backward) the two calls differed, or a saved tensor was unpacked twice in one pass.

    Example:
        >>> from reftorch.utils.checkpoint import checkpoint
        >>> def block(x):
        ...     print("runs")
        ...     return x.sin().exp()
        >>> x = torch.zeros(2, requires_grad=True)
        >>> y = checkpoint(block, x, use_reentrant=False)
        runs
        >>> y.sum().backward()
        runs
        >>> x.grad
        tensor([1., 1.])

    Mirrors torch/utils/checkpoint.py, ``checkpoint``.
    """
    if use_reentrant is None:
        _warn_of_default("torch.utils.checkpoint")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        return _checkpoint_without_reentrant(
            function, args, kwargs, preserve, context_fn, determinism_check, debug, early_stop
        )
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    return CheckpointFunction.apply(function, preserve, *args)


def _run_segment(functions: list[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def run(input: Any) -> Any:
        for function in functions:
            input = function(input)
        return input

    return run


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Call functions one after the other, in segments of which all but the last are checkpointed.

    Args:
        functions: a ``Sequential``, or a list of functions of one tensor.
        segments: the number of segments.
        input: the argument of the first function.
        use_reentrant: see :func:`checkpoint`.
        kwargs: ``preserve_rng_state``; see :func:`checkpoint`.

    Raises:
        ValueError: there is another keyword argument.

    Example:
        >>> from reftorch.utils.checkpoint import checkpoint_sequential
        >>> x = torch.tensor([1.0], requires_grad=True)
        >>> y = checkpoint_sequential([torch.exp, torch.log, torch.neg], 3, x, use_reentrant=False)
        >>> torch.autograd.grad(y, x)
        (tensor([-1.]),)

    Mirrors torch/utils/checkpoint.py, ``checkpoint_sequential``.
    """
    if use_reentrant is None:
        _warn_of_default("torch.utils.checkpoint.checkpoint_sequential")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(steps) // segments
    last = size * (segments - 1)
    for start in range(0, last, size or 1):
        input = checkpoint(
            _run_segment(steps[start : start + size]), input, use_reentrant=use_reentrant, preserve_rng_state=preserve
        )
    return _run_segment(steps[last:])(input)


_places.split(__name__)
