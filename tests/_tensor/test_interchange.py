"""Tensors as arrays, capsules, storages, copies and pickles, and back.

Mirrors: test/test_numpy_interop.py, test/test_dlpack.py, test/test_torch.py (deepcopy, pickle)
"""

import copy
import gc
import pickle
import warnings
import weakref
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import reftorch
from reftorch import Tensor
from tests.answers.watched import asked

# Each is evaluated with both libraries as `torch`; the answers, or the errors, must be the same.
NUMPY_CALLS = """
np.sin(x); np.add(x, 1); np.add(a, x); a + x; x + a; a * x; a - x; x - a; a / x; x / a; a ** x; a < x; x < a; a == x
x == a; np.greater(x, 1); np.isnan(x); np.array(x); np.array(x, dtype=np.int32); np.asarray(x, dtype="f8"); np.array(z)
np.array([z, z]); np.array([x, x]); np.float64(2) * x; np.float32(2) * i; x * np.float64(2); i + np.int64(2)
np.concatenate([x, x]); np.exp(x, out=np.zeros(4)); np.add(x, x, out=x.clone()); np.sqrt(z); np.where(x > 1, x, 0)
np.allclose(x, a); np.array(g); np.array(bf); bf.numpy(); g.numpy(); g.numpy(force=True); e.numpy(); x[::2].numpy()
a[i]; a[iz]; x[a.astype(int)]; x[a > 1]; x[np.int64(1)]; x[np.array(1)]
torch.from_numpy(a); torch.from_numpy(a[::2]); torch.from_numpy(m.T).stride(); torch.from_numpy(np.array(2.0))
torch.from_numpy([1]); torch.from_numpy(np.arange(3).astype(">i4")); torch.from_numpy(np.zeros((0, 3)))
torch.from_numpy(np.zeros(3, dtype=[("a", "f4"), ("b", "i8")])["a"]); torch.from_numpy(np.ma.array([1.0, 2.0]))
torch.tensor(np.float32(2)); torch.tensor(np.float64(2)); torch.tensor(np.int8(2)); torch.tensor(np.bool_(True))
torch.tensor([np.float64(1), 2]); torch.tensor([np.int32(1), 2]); torch.tensor((np.arange(3.0), np.arange(3)))
torch.tensor([np.arange(3), np.arange(2)]); torch.tensor(np.array([[1, 2]], dtype="i2"), dtype=torch.float32)
torch.tensor([1, [2]][:1]); torch.tensor([[1, 2], [3]]); torch.tensor("a"); torch.tensor(["a"]); torch.tensor(None)
torch.tensor(b"ab"); torch.tensor(bytearray(b"ab")); torch.tensor(range(3)); torch.tensor({1: 2}); torch.tensor(-2**63)
torch.tensor(2**63, dtype=torch.float32); torch.tensor(300, dtype=torch.uint8); torch.tensor(-1, dtype=torch.uint8)
torch.tensor([300], dtype=torch.int8); torch.tensor(1.7, dtype=torch.int32); torch.tensor(1e10, dtype=torch.int32)
torch.tensor(float("nan"), dtype=torch.int64); torch.tensor(-256, dtype=torch.uint8); torch.tensor([z, iz])
torch.tensor(1, requires_grad=True); torch.tensor(data=1); torch.tensor(); torch.tensor(1, 2); torch.tensor(1, foo=2)
torch.as_tensor(a, dtype=torch.float32); torch.as_tensor(np.float32(2)); torch.as_tensor(x) is x
torch.as_tensor([a, a])
torch.asarray(a, dtype=torch.float32, copy=False); torch.asarray(bytearray(b"abcd"), dtype=torch.uint8)
torch.asarray([1, 2], copy=False); torch.asarray([1, 2], requires_grad=True); torch.asarray(x, copy=True) is x
torch.asarray(g, requires_grad=False); torch.asarray(np.float32(3)); torch.asarray(True)
torch.frombuffer(bytearray(8), dtype=torch.float32); torch.frombuffer(bytearray(7), dtype=torch.float32)
torch.frombuffer(bytearray(8), dtype=torch.float32, count=1, offset=4); torch.frombuffer([1], dtype=torch.float32)
torch.frombuffer(bytearray(8), dtype=torch.float32, count=3); torch.frombuffer(bytearray(0), dtype=torch.float32)
torch.frombuffer(bytearray(8), dtype=torch.int32, requires_grad=True); torch.Tensor(a); torch.Tensor("a")
torch.FloatTensor([1, 2]); torch.LongTensor(2, 3).shape; isinstance(x, torch.FloatTensor); x.new([1, 2]); i.new(2).dtype
x.tolist(); z.tolist(); e.tolist(); int(z); int(torch.tensor(float("inf"))); float(x); complex(z); bool(x); bool(e)
list(range(5))[iz]; list(range(5))[z]; hex(iz); len(z); list(x); iter(z); 2.0 in x; z in x; "a" in x; None in x
format(z, ".2f"); format(x, ".2f"); f"{z}"; f"{iz:d}"; z.item(); x.item(); hash(x) == id(x); iz.__index__(); z == None
x != None; x < None; x + None; x + "a"; [1, 2] + x; memoryview(x); bytes(torch.tensor([1, 2], dtype=torch.uint8))
"""


def answer(torch: ModuleType, call: str) -> str:
    names = {
        "torch": torch, "np": np, "x": torch.arange(4.0), "i": torch.arange(4), "z": torch.tensor(2.5),
        "iz": torch.tensor(3), "e": torch.empty(0, 3), "g": torch.ones(2, requires_grad=True),
        "bf": torch.ones(2, dtype=torch.bfloat16), "a": np.arange(4.0), "m": np.arange(6).reshape(2, 3),
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = eval(call, names)
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:30]}"
    return f"{type(result).__name__} {result!r}".replace("reftorch", "torch")


@pytest.mark.parametrize("call", [call.strip() for call in NUMPY_CALLS.replace("\n", ";").split(";") if call.strip()])
def test_with_numpy_and_python(call: str, real_torch: ModuleType) -> None:
    assert answer(reftorch, call) == asked(real_torch, lambda lib: answer(lib, call))


def test_an_array_and_a_tensor_are_one_memory() -> None:
    array = np.zeros(3)
    x = reftorch.from_numpy(array)
    x[0] = 1
    array[1] = 2
    assert x.tolist() == array.tolist() == [1, 2, 0]
    kept = weakref.ref(array)
    del array
    gc.collect()
    assert kept() is not None and x.numpy().base is not None
    del x
    gc.collect()
    assert kept() is None


def test_what_cannot_be_written_warns() -> None:
    array = np.zeros(3)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        reftorch.from_numpy(array)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert reftorch.tensor(array).tolist() == [0, 0, 0]  # a copy: nothing to warn of
    with pytest.raises(ValueError, match="At least one stride in the given numpy array is negative"):
        reftorch.from_numpy(np.zeros(3)[::-1])
    with pytest.warns(UserWarning, match="list of numpy.ndarrays is extremely slow"):
        reftorch.tensor([np.zeros(2), np.zeros(2)])


# --- DLPack ----------------------------------------------------------------------------------------------------------

DTYPES = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_with_torch(dtype: str, real_torch: ModuleType) -> None:
    for source, target in ((reftorch, real_torch), (real_torch, reftorch), (reftorch, reftorch)):
        x = source.arange(6).reshape(2, 3).to(getattr(source, dtype)).t()
        y = target.from_dlpack(x)
        assert y.tolist() == x.tolist() and y.stride() == x.stride() and str(y.dtype) == f"torch.{dtype}"
        y[0, 0] = 1
        assert x[0, 0].item() == 1
        assert target.from_dlpack(source.empty(0, 3)).shape == (0, 3)


def test_dlpack_with_numpy() -> None:
    array = np.arange(6.0).reshape(2, 3)[:, ::2]
    x = reftorch.from_dlpack(array)
    assert x.stride() == (3, 2) and x.data_ptr() == array.ctypes.data
    back = np.from_dlpack(x)
    back[0, 0] = 7
    assert array[0, 0] == 7
    with pytest.raises(BufferError, match="negative"):
        reftorch.from_dlpack(np.arange(3)[::-1])


def test_a_capsule_keeps_the_memory_and_is_taken_once() -> None:
    x = reftorch.arange(1000.0)
    before = x._storage_use_count()
    unused, capsule = x.__dlpack__(), reftorch.to_dlpack(x)
    assert x._storage_use_count() == before + 2
    del unused
    assert x._storage_use_count() == before + 1
    y = reftorch.from_dlpack(capsule)
    assert "used_dltensor" in repr(capsule)
    del x
    gc.collect()
    assert y[999] == 999
    with pytest.raises(RuntimeError, match="can be consumed only once"):
        reftorch.from_dlpack(capsule)
    with pytest.raises(RuntimeError, match="invalid capsule"):
        reftorch.from_dlpack(3)


def test_the_versioned_form_and_copies(real_torch: ModuleType) -> None:
    for torch in (reftorch, real_torch):
        x = torch.arange(3)
        assert "dltensor_versioned" in repr(x.__dlpack__(max_version=(1, 0))) and x.__dlpack_device__() == (1, 0)
        assert torch.from_dlpack(x).data_ptr() == torch.from_dlpack(x, copy=False).data_ptr() == x.data_ptr()
        assert torch.from_dlpack(x, copy=True).data_ptr() != x.data_ptr()
        for kwargs, error in (
            ({"stream": 3}, AssertionError), ({"stream": "a"}, TypeError), ({"copy": 1}, TypeError),
            ({"dl_device": 5}, TypeError), ({"copy": False, "dl_device": (2, 0)}, ValueError),
        ):  # fmt: skip
            with pytest.raises(error):
                x.__dlpack__(**kwargs)
        with pytest.raises(BufferError, match="require gradient"):
            torch.ones(1, requires_grad=True).__dlpack__()
        with pytest.raises(AssertionError):
            torch.from_dlpack(x.__dlpack__(), copy=True)


def test_an_exporter_that_knows_only_the_oldest_form() -> None:
    class Old:
        def __dlpack__(self) -> Any:
            return reftorch.arange(3).__dlpack__()

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    assert reftorch.from_dlpack(Old()).tolist() == reftorch.from_dlpack(Old(), copy=True).tolist() == [0, 1, 2]


def test_whatever_speaks_dlpack_is_data() -> None:
    class Wrapper:
        def __init__(self, tensor: Tensor) -> None:
            self.tensor = tensor

        def __dlpack__(self, **kwargs: Any) -> Any:
            return self.tensor.__dlpack__(**kwargs)

        def __dlpack_device__(self) -> Any:
            return self.tensor.__dlpack_device__()

    x = reftorch.arange(3)
    assert reftorch.tensor(Wrapper(x)).tolist() == [0, 1, 2]  # type: ignore[arg-type]
    assert reftorch.as_tensor(Wrapper(x)).data_ptr() == reftorch.asarray(Wrapper(x)).data_ptr() == x.data_ptr()
    with pytest.raises(BufferError, match="Unsupported device_type: 15"):
        x.__dlpack__(dl_device=(15, 0))


# --- copies and pickle -----------------------------------------------------------------------------------------------


def test_deepcopy(real_torch: ModuleType) -> None:
    def program(torch: ModuleType) -> None:
        x = torch.arange(4.0, requires_grad=True)
        x.grad, x.note = torch.ones(4), [1]
        view = x.detach()[1:]
        y, z, again = copy.deepcopy([x, view, x])
        assert again is y and y.is_leaf and y.requires_grad and y.grad.tolist() == [1] * 4 and y.grad is not x.grad
        assert y.note == [1] and y.note is not x.note
        assert z.data_ptr() == y.data_ptr() + 4 != view.data_ptr()  # one copy of the memory
        with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
            copy.deepcopy(x * 2)
        with pytest.raises(RuntimeError, match="another instance of the same subclass"):
            copy.deepcopy(x.detach().as_subclass(type("Sub", (torch.Tensor,), {})))

    program(reftorch)
    asked(real_torch, program)


def test_copy_shares_the_memory() -> None:
    x = reftorch.ones(2, requires_grad=True)
    y = copy.copy(x)
    assert y is not x and y.data_ptr() == x.data_ptr() and y.requires_grad


class Sub(Tensor):
    pass


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol: int) -> None:
    def again(obj: Any) -> Any:
        return pickle.loads(pickle.dumps(obj, protocol))

    x = reftorch.arange(6.0).view(2, 3).t()
    y = again(x)
    assert y.tolist() == x.tolist() and y.stride() == x.stride() and y.untyped_storage().nbytes() == 24
    sub = x.as_subclass(Sub)
    sub.note = "mine"  # type: ignore[attr-defined]
    assert type(again(sub)) is Sub and again(sub).note == "mine"
    parameter = reftorch.nn.Parameter(reftorch.ones(2), requires_grad=False)
    parameter.note = 1  # type: ignore[attr-defined]
    assert type(again(parameter)) is reftorch.nn.Parameter and again(parameter).note == 1
    assert not again(parameter).requires_grad
    for obj in (reftorch.float16, reftorch.strided, reftorch.channels_last):
        assert again(obj) is obj and copy.deepcopy(obj) is obj
    assert again(reftorch.Size([1])) == (1,) and again(reftorch.device("cuda:1")).index == 1
    generator = reftorch.Generator().manual_seed(3)
    assert reftorch.rand(2, generator=again(generator)).tolist() == reftorch.rand(2, generator=generator).tolist()


def test_hooks_are_not_pickled() -> None:
    x = reftorch.ones(1, requires_grad=True)
    x.register_hook(print)
    with pytest.warns(UserWarning, match="will not be serialized"):
        assert pickle.loads(pickle.dumps(x))._backward_hooks is None
