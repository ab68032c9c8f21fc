"""Functions that take more than a schema can say: sharing memory, asking what a tensor is.

Mirrors: test/test_tensor_creation_ops.py (TestAsArray, TestBufferProtocol)
"""

import array
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import reftorch
from tests.native.differential import Program, assert_same, assert_same_error, numbers

BYTES = b"\x01\x00\x02\x00\x03\x00\x04\x00"

RESULTS: dict[str, Program] = {
    "frombuffer": lambda t: [
        t.frombuffer(bytearray(BYTES), dtype=getattr(t, d)) for d in ("int16", "bfloat16", "bool")
    ],
    "frombuffer of a part": lambda t: t.frombuffer(bytearray(BYTES), dtype=t.int16, count=2, offset=2),
    "frombuffer negative count": lambda t: t.frombuffer(bytearray(BYTES), dtype=t.int16, count=-2),
    "frombuffer array": lambda t: t.frombuffer(array.array("d", [1, 2.5]), dtype=t.float64),
    "asarray list": lambda t: [t.asarray([1, 2]), t.asarray([[1.5], [2]], dtype=t.float64), t.asarray(3.5)],
    "asarray numpy": lambda t: [t.asarray(np.arange(4.0)), t.asarray(np.float32(2)), t.asarray(np.array(2, np.int8))],
    "asarray cast": lambda t: [t.asarray(np.arange(4.0), dtype=t.int32), t.asarray(numbers(t, 3), dtype=t.float64)],
    "asarray buffer": lambda t: [
        t.asarray(bytearray(BYTES)),
        t.asarray(bytearray(BYTES), dtype=t.int16),
        t.asarray(bytearray(BYTES), dtype=t.int32, copy=True),
    ],
    "asarray of tensors": lambda t: t.asarray([t.tensor(1.0), t.tensor(2.0)]),
    "as_tensor": lambda t: [t.as_tensor([1, 2], dtype=t.float64), t.as_tensor(np.arange(3)), t.as_tensor(2)],
}

ERRORS: dict[str, Program] = {
    "frombuffer no multiple": lambda t: t.frombuffer(bytearray(BYTES), dtype=t.int32, offset=3),
    "frombuffer too long": lambda t: t.frombuffer(bytearray(BYTES), dtype=t.int16, count=5),
    "frombuffer count 0": lambda t: t.frombuffer(bytearray(BYTES), dtype=t.int16, count=0),
    "frombuffer offset": lambda t: t.frombuffer(bytearray(BYTES), dtype=t.int16, offset=8),
    "frombuffer negative offset": lambda t: t.frombuffer(bytearray(BYTES), dtype=t.int16, offset=-1),
    "frombuffer empty": lambda t: t.frombuffer(b"", dtype=t.int16),
    "frombuffer number": lambda t: t.frombuffer(3, dtype=t.int16),
    "asarray cast without copy": lambda t: t.asarray(np.arange(3.0), dtype=t.float32, copy=False),
    "asarray list without copy": lambda t: t.asarray([1, 2], copy=False),
    "imag": lambda t: t.imag(t.ones(2)),
    "as_tensor positional dtype": lambda t: t.as_tensor([1, 2], t.float32),
}


@pytest.mark.parametrize("name", RESULTS)
def test_result(name: str, real_torch: ModuleType) -> None:
    assert_same(RESULTS[name], real_torch)


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.filterwarnings("ignore:The given buffer is not writable")
def test_error(name: str, real_torch: ModuleType) -> None:
    assert_same_error(ERRORS[name], real_torch)


def test_memory_is_shared() -> None:
    data = bytearray(BYTES)
    reftorch.frombuffer(data, dtype=reftorch.int16)[0] = 7
    assert data[0] == 7
    values = np.zeros(3)
    reftorch.asarray(values)[1] = 5
    assert values.tolist() == [0, 5, 0]
    reftorch.asarray(values, copy=True)[0] = 9
    assert values.tolist() == [0, 5, 0]
    x = reftorch.ones(2)
    assert reftorch.asarray(x).data_ptr() == x.data_ptr() != reftorch.asarray(x, copy=True).data_ptr()


def test_a_tensor_keeps_its_buffer_alive() -> None:
    t = reftorch.frombuffer(bytearray(BYTES * 1000), dtype=reftorch.int16)
    _ = [bytearray(8000) for _ in range(20)]
    assert t[:4].tolist() == [1, 2, 3, 4] and t[-1].item() == 4


def test_a_read_only_buffer_warns() -> None:
    with pytest.warns(UserWarning, match="The given buffer is not writable"):
        t = reftorch.frombuffer(BYTES, dtype=reftorch.int16)
    assert t.tolist() == [1, 2, 3, 4]


def test_requires_grad() -> None:
    assert reftorch.frombuffer(bytearray(BYTES), dtype=reftorch.float16, requires_grad=True).requires_grad
    with pytest.raises(RuntimeError, match="nly Tensors of floating point"):
        reftorch.frombuffer(bytearray(BYTES), dtype=reftorch.int16, requires_grad=True)
    x = reftorch.ones(2, requires_grad=True)
    assert reftorch.asarray(x).requires_grad and not reftorch.asarray(x, requires_grad=False).requires_grad
    assert reftorch.asarray([1.0], requires_grad=True).requires_grad
    assert type(reftorch.asarray(x, copy=True).grad_fn).__name__ in ("CloneBackward0", "ToCopyBackward0")


def test_range_is_deprecated() -> None:
    with pytest.warns(UserWarning, match="torch.range is deprecated"):
        assert reftorch.range(1, 3).tolist() == [1, 2, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match="upper bound and lower bound inconsistent with step sign"):
            reftorch.range(1, 0)


def test_result_type_of_something_else() -> None:
    for args, kwargs in (((1,), {}), ((1, "a"), {}), ((), {"tensor1": 1, "tensor2": 2}), ((1, 2, 3), {})):
        with pytest.raises(TypeError, match="invalid combination of arguments"):
            reftorch.result_type(*args, **kwargs)


QUESTIONS: list[Any] = [
    lambda t: t.is_complex(t.ones(1)),
    lambda t: [t.is_signed(t.ones(1, dtype=getattr(t, d))) for d in ("uint8", "int8", "bool", "float32")],
    lambda t: [t.is_conj(t.ones(1)), t.is_neg(t.ones(1))],
    lambda t: [t.is_same_size(t.ones(1), t.ones(1)), t.is_same_size(t.ones(1), t.ones(2))],
    lambda t: [t.is_storage(t.ones(1).untyped_storage()), t.is_storage(t.ones(1)), t.is_tensor(t.ones(1))],
    lambda t: t.newaxis,
    lambda t: str(t.result_type(t.tensor([1]), 1.5)),
    lambda t: [str(t.result_type(1, 2.0)), str(t.result_type(scalar1=True, scalar2=1))],
    lambda t: [
        str(t.result_type(tensor=t.tensor([1]), other=True)),
        str(t.result_type(scalar=1.5, tensor=t.tensor([1]))),
    ],
    lambda t: str(t.promote_types(type1=t.int8, type2=t.uint8)),
    lambda t: [t.can_cast(from_=t.float32, to=t.int8), t.can_cast(t.int8, t.float16)],
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions(question: Any, real_torch: ModuleType) -> None:
    assert question(reftorch) == question(real_torch)
