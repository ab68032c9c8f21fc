"""Pinned memory for batches: host memory that an accelerator can copy from by itself.

Mirrors: torch/utils/data/_utils/pin_memory.py
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reftorch import _C, accelerator, multiprocessing
from reftorch._tensor import Tensor
from reftorch._utils import ExceptionWrapper
from reftorch.utils.data._utils.collate import _like_mapping, _like_sequence

__all__: list[str] = []


def _pin_memory_loop(
    receive: Callable[[], Any], out_queue: queue.Queue[Any], device_index: int, is_over: Callable[[], bool]
) -> None:
    """Run in the pin-memory thread: take batches from the workers, pin them, and put them into a queue."""
    multiprocessing._set_thread_name("pt_data_pin")
    _C.set_num_threads(1)  # the copies leave the other processors to the workers
    accelerator.set_device_index(device_index)
    while not is_over():
        try:
            worker_id, number, data = receive()
        except Exception as error:  # a worker died: the loader raises it
            out_queue.put(error)
            return
        if not isinstance(data, ExceptionWrapper):
            try:
                data = pin_memory(data)
            except Exception:
                data = ExceptionWrapper(where=f"in pin memory thread for device {device_index}")
        out_queue.put((worker_id, number, data))


def pin_memory(data: Any, device: Any = None) -> Any:
    """Return the batch with every tensor in pinned memory, also inside mappings and sequences.

    An object with a method ``pin_memory()`` answers for itself; what is neither stays as it is.
    """
    if isinstance(data, Tensor) or hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, str | bytes):
        return data
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: pin_memory(value) for key, value in data.items()})
    if isinstance(data, tuple):
        values = [pin_memory(value) for value in data]
        return type(data)(*values) if hasattr(data, "_fields") else type(data)(values)
    if isinstance(data, Sequence):
        return _like_sequence(data, [pin_memory(value) for value in data])
    return data
