"""A DLPack capsule that is refused goes on owning its data; one that is consumed is freed once.

Mirrors: test/test_dlpack.py
"""

import ctypes
import gc
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked

CPU, FLOAT = 1, 2


class DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class DLManagedTensor(ctypes.Structure):
    _fields_ = (("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", DELETER))


class Capsule:
    """A capsule on four numbers, and how often its deleter ran."""

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...], **fields: Any) -> None:
        self.numbers = (ctypes.c_float * 4)(1, 2, 3, 4)
        self.shape, self.strides = (ctypes.c_int64 * 8)(*shape), (ctypes.c_int64 * 8)(*strides)
        self.deleted = 0
        t = DLTensor(ctypes.addressof(self.numbers), CPU, 0, len(shape), FLOAT, 32, 1, self.shape, self.strides, 0)
        for name, value in fields.items():
            setattr(t, name, value)
        self.managed = DLManagedTensor(t, None, DELETER(self.delete))
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self.capsule = new(ctypes.addressof(self.managed), b"dltensor", None)

    def delete(self, _: Any) -> None:
        self.deleted += 1


REFUSED: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((2,), (-1,), {}),
    ((-2,), (1,), {}),
    ((2, 2), (2**62, 1), {}),
    ((2**40, 2**40), (0, 0), {}),
    ((2,), (1,), {"lanes": 2}),
    ((2,), (1,), {"bits": 7}),
    ((2,), (1,), {"device_type": 99}),
    ((2,), (1,), {"ndim": -1}),
    ((2,), (1,), {"data": None}),
]


@pytest.mark.parametrize(("shape", "strides", "fields"), REFUSED)
def test_a_refused_capsule_keeps_its_data(shape: Any, strides: Any, fields: dict[str, Any]) -> None:
    made = Capsule(shape, strides, **fields)
    for _ in range(2):  # nothing was consumed: the capsule can be offered again
        with pytest.raises(BufferError):
            reftorch._C._from_dlpack(made.capsule)
    assert made.deleted == 0


def test_a_consumed_capsule_is_freed_once() -> None:
    made = Capsule((2, 2), (2, 1))
    x = reftorch._C._from_dlpack(made.capsule)
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(RuntimeError, match="can be consumed only once"):
        reftorch._C._from_dlpack(made.capsule)
    del x
    gc.collect()
    assert made.deleted == 1


def test_meta_has_no_memory_to_export(real_torch: Any) -> None:
    def refusals(torch: Any) -> list[str]:
        x, found = torch.empty(2, device="meta"), []
        for call in (x.__dlpack__, x.__dlpack_device__, lambda: torch.utils.dlpack.to_dlpack(x)):
            try:
                call()
            except Exception as error:
                found.append(f"{type(error).__name__}: {error}")
        return found

    assert refusals(reftorch) == asked(real_torch, refusals)
    with pytest.raises(BufferError, match=r"device 0, but there are 0 devices|not linked with support for cuda"):
        reftorch._C._from_dlpack(Capsule((2,), (1,), device_type=2).capsule)
