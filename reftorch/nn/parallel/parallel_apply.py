"""``parallel_apply``: several modules at once, each on a thread of its own.

Mirrors: torch/nn/parallel/parallel_apply.py

Note [Threads of replicas]
Problem: a module's ``forward`` is Python, and one thread would start the kernels of the second device only after it has
started all kernels of the first one. Trick: one thread for each device. A kernel runs without Python's lock and returns
as soon as it is queued, so the threads take turns and all devices have work. What a thread would not know is handed on:
whether gradients are recorded, autocast, the current device and its stream. An exception of a thread would be printed
and lost, so the thread returns an ExceptionWrapper, which the caller raises again with the replica's number and device.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from reftorch._C import is_grad_enabled
from reftorch._tensor import Tensor
from reftorch._utils import ExceptionWrapper
from reftorch.amp import autocast
from reftorch.amp.autocast_mode import get_autocast_dtype, is_autocast_enabled
from reftorch.autograd.grad_mode import set_grad_enabled
from reftorch.cuda import current_stream, device, init, stream
from reftorch.cuda._utils import _get_device_index
from reftorch.nn.modules.module import Module

__all__ = ["get_a_var", "parallel_apply"]


def get_a_var(obj: Any) -> Tensor | None:
    """Return the first tensor in a structure of lists, tuples and dicts, or None.

    Example:
        >>> from reftorch.nn.parallel.parallel_apply import get_a_var
        >>> get_a_var([1, {"x": torch.ones(2)}])
        tensor([1., 1.])

    Mirrors torch/nn/parallel/parallel_apply.py, ``get_a_var``.
    """
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, dict):
        obj = tuple(obj.items())
    if isinstance(obj, (list, tuple)):
        return next((found for found in map(get_a_var, obj) if found is not None), None)
    return None


def parallel_apply(
    modules: Sequence[Module],
    inputs: Sequence[Any],
    kwargs_tup: Sequence[dict[str, Any]] | None = None,
    devices: Sequence[Any] | None = None,
) -> list[Any]:
    """Call each module with its arguments, all at once. See Note [Threads of replicas].

    Args:
        modules: the modules, such as replicas of one module.
        inputs: for each module its argument, or a tuple or list of its arguments.
        kwargs_tup: for each module its arguments by name.
        devices: for each module the CUDA device that is current while it runs. By default the current device.

    Returns:
        The results, in the order of ``modules``.

    Raises:
        AssertionError: the numbers of modules, inputs, kwargs and devices differ, or there is no CUDA.
        Exception: an exception of a module, of the same type; its message names the replica and the device.

    Mirrors torch/nn/parallel/parallel_apply.py, ``parallel_apply``.
    """
    for name, given in (("inputs", inputs), ("kwargs_tup", kwargs_tup), ("devices", devices)):
        if given is not None and len(given) != len(modules):
            raise AssertionError(
                f"The number of modules {len(modules)} is not equal to the number of {name} {len(given)}"
            )
    init()
    if not modules:
        return []
    results: list[Any] = [None] * len(modules)
    places = [_get_device_index(d, True) for d in devices or [None] * len(modules)]
    streams = [current_stream(place) for place in places]
    grad_enabled, autocast_enabled, dtype = is_grad_enabled(), is_autocast_enabled("cuda"), get_autocast_dtype("cuda")

    def work(i: int) -> None:
        arguments = inputs[i] if isinstance(inputs[i], (list, tuple)) else (inputs[i],)
        kwargs = {} if kwargs_tup is None else kwargs_tup[i]
        try:
            with (
                set_grad_enabled(grad_enabled),
                device(places[i]),
                stream(streams[i]),
                autocast("cuda", dtype=dtype, enabled=autocast_enabled),
            ):
                results[i] = modules[i](*arguments, **kwargs)
        except Exception:
            results[i] = ExceptionWrapper(where=f"in replica {i} on device {places[i]}")

    if len(modules) == 1:
        work(0)
    else:
        threads = [threading.Thread(target=work, args=(i,), name=f"replica {i}") for i in range(len(modules))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for result in results:
        if isinstance(result, ExceptionWrapper):
            result.reraise()
    return results
