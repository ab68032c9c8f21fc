"""The process to which device_ipc.py sends tensors: it does what it is asked, and answers.

Mirrors: test/test_multiprocessing.py
"""

from multiprocessing.reduction import ForkingPickler
from typing import Any

import reftorch as torch
from reftorch import cuda

held: dict[str, Any] = {}


def describe(tensors: list[Any]) -> list[Any]:
    """What a receiver should see: classes, values, geometry, and which tensors have one storage."""
    storages = [x.untyped_storage()._cdata for x in tensors]
    return [
        (type(x).__name__, x.tolist(), x.stride(), x.storage_offset(), str(x.dtype), x.requires_grad, str(x.device),
         storages.index(storage))
        for x, storage in zip(tensors, storages, strict=True)
    ]  # fmt: skip


def add(x: Any, value: float) -> None:
    x.detach().add_(value)
    cuda.synchronize()


def total(tensors: list[Any]) -> float:
    return sum(x.sum().item() for x in tensors)


def hold(name: str, x: Any) -> None:
    held[name] = x


def drop(name: str) -> None:
    del held[name]


def pickled(name: str) -> bytes:
    return bytes(ForkingPickler.dumps(held[name]))


def make(name: str, value: float) -> Any:
    held[name] = torch.full((4, 3), value, device="cuda")
    return held[name]


def message_of_freed_memory() -> tuple[Any, ...]:
    storage = torch.UntypedStorage(12 << 20, device="cuda")  # a segment of its own
    message = storage._share_cuda_()
    storage._release_ipc_counter_cuda(*message[4:6])
    del storage
    cuda.ipc_collect()
    cuda.empty_cache()
    return message


def allocated() -> int:
    cuda.ipc_collect()
    return cuda.memory_allocated()


def serve(questions: Any, answers: Any) -> None:
    """Answer until the question is None. A question is the name of a function here, and the arguments."""
    while (question := questions.get()) is not None:
        name, *arguments = question
        try:
            answer = globals()[name](*arguments)
        except RuntimeError as error:
            answer = str(error)
        del question, arguments  # who reads the answer may rely on it that the tensors have gone
        answers.put(answer)
        del answer
