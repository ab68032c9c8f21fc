"""The tensor types that are older than dtypes.

Mirrors: test/test_torch.py (test_tensor_ctor_scalar, test_type, legacy constructors)
"""

from types import ModuleType

import pytest

import reftorch
from tests.native.differential import Program, assert_same, assert_same_error, numbers

RESULTS: dict[str, Program] = {
    "of values": lambda t: [t.FloatTensor([1, 2]), t.LongTensor([1.5, 2]), t.BoolTensor([1, 0]), t.HalfTensor([[1]])],
    "of sizes": lambda t: [t.DoubleTensor(2, 3).shape, t.IntTensor(t.Size([4])).shape, t.ShortTensor().shape],
    "on a tensor": lambda t: t.FloatTensor(numbers(t, 3)),
    "instances": lambda t: [isinstance(t.ones(2), c) for c in (t.FloatTensor, t.LongTensor, t.Tensor)],
    "names": lambda t: [t.FloatTensor.__name__, str(t.ByteTensor.dtype), t.CharTensor.is_cuda],
    "type": lambda t: [t.ones(2).type(t.LongTensor), t.ones(2).type("torch.DoubleTensor")],
    "new": lambda t: [t.ones(2).new([1, 2]), t.ones(2).new(2, 3).shape, t.arange(2).new([3]), t.ones(2).new().shape],
    "resize": lambda t: [numbers(t, 6).resize(2, 3), numbers(t, 6).resize_as(t.ones(3, 2))],
}

ERRORS: dict[str, Program] = {
    "of text": lambda t: t.FloatTensor("a"),
    "of a number": lambda t: t.FloatTensor(2.5),
    "resize to another count": lambda t: t.ones(2).resize(3),
    "default of integers": lambda t: t.set_default_tensor_type(t.LongTensor),
    "type of no module": lambda t: t.ones(2).type("LongTensor"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RESULTS)
def test_result(name: str, real_torch: ModuleType) -> None:
    assert_same(RESULTS[name], real_torch)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str, real_torch: ModuleType) -> None:
    assert_same_error(ERRORS[name], real_torch)


@pytest.mark.filterwarnings("ignore")
def test_default_tensor_type() -> None:
    reftorch.set_default_tensor_type(reftorch.DoubleTensor)
    try:
        assert reftorch.tensor(1.5).dtype is reftorch.float64
    finally:
        reftorch.set_default_tensor_type("torch.FloatTensor")
    assert reftorch.tensor(1.5).dtype is reftorch.float32


def test_on_a_tensor_shares_memory() -> None:
    x = reftorch.zeros(2)
    reftorch.FloatTensor(x)[0] = 1
    assert x.tolist() == [1, 0]


def test_on_a_tensor_of_another_dtype(real_torch_or_none: ModuleType | None) -> None:
    for t in filter(None, (reftorch, real_torch_or_none)):
        for call in (lambda t=t: t.FloatTensor(t.ones(2).double()), lambda t=t: t.ones(2).new(t.arange(2))):
            with pytest.raises(TypeError, match="expected"):
                call()
