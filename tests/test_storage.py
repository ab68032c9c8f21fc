"""Storages: bytes and numbers that tensors share.

Mirrors: test/test_torch.py (test_storage*), test/test_utils.py
"""

import copy
import gc
import pickle
from types import ModuleType

import numpy as np
import pytest

import reftorch
from reftorch import TypedStorage, UntypedStorage

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")


def test_bytes_are_the_tensors() -> None:
    x = reftorch.zeros(2, dtype=reftorch.int16)
    storage = x.untyped_storage()
    storage[1] = 1
    assert x.tolist() == [256, 0] and storage.tolist() == [0, 1, 0, 0] and storage[-1] == 0
    assert storage.nbytes() == len(storage) == 4 and storage.data_ptr() == x.data_ptr()
    assert x[1:].untyped_storage()._cdata == storage._cdata
    assert storage.fill_(0).tolist() == [0] * 4 and storage[1:3].tolist() == [0, 0]
    with pytest.raises(IndexError, match="out of range for storage of size 4"):
        storage[4]


def test_resize_keeps_what_fits_and_refuses_memory_of_others() -> None:
    storage = UntypedStorage([1, 2, 3])
    assert storage.resize_(2).tolist() == [1, 2]
    assert storage.resize_(4).tolist()[:2] == [1, 2]
    with pytest.raises(RuntimeError, match="not resizable"):
        reftorch.from_numpy(np.zeros(2)).untyped_storage().resize_(1)


def test_a_storage_outlives_its_tensor() -> None:
    storage = reftorch.arange(1000.0).untyped_storage()
    gc.collect()
    assert reftorch.empty(0).set_(storage)[999].item() == 999


def test_set_reads_other_memory(real_torch: ModuleType) -> None:
    def results(torch: ModuleType) -> list:
        x = torch.arange(6.0)
        strided = torch.empty(0).set_(x.untyped_storage(), 1, (2, 2), (1, 2))
        other = torch.empty(0).set_(x)
        whole = torch.empty(0).set_(x.untyped_storage())
        nothing = torch.ones(3).set_()
        return [t.tolist() for t in (strided, other, whole, nothing)]

    assert results(reftorch) == results(real_torch)
    with pytest.raises(RuntimeError, match="out of bounds for storage"):
        reftorch.empty(0).set_(UntypedStorage(4), 0, (2,))


def test_typed_storages(real_torch: ModuleType) -> None:
    def results(torch: ModuleType) -> list:
        storage = torch.FloatStorage([1.5, 2.5])
        storage[0] = 4
        untyped = torch.tensor([1, 2]).storage()
        return [
            storage.tolist(), len(storage), storage.nbytes(), storage.element_size(), storage.double().tolist(),
            isinstance(untyped, torch.LongStorage), isinstance(untyped, torch.FloatStorage), untyped.type(),
            untyped.pickle_storage_type(), str(untyped), str(untyped.untyped()), storage.clone().tolist(),
        ]  # fmt: skip

    assert results(reftorch) == results(real_torch)
    assert reftorch.is_storage(UntypedStorage(1)) and reftorch.is_storage(reftorch.ones(1).storage())


def test_copies() -> None:
    storage = UntypedStorage([1, 2])
    assert copy.copy(storage).tolist() == pickle.loads(pickle.dumps(storage)).tolist() == [1, 2]
    first, second = copy.deepcopy([storage, storage.untyped()])
    assert first._cdata == second._cdata != storage._cdata
    typed = pickle.loads(pickle.dumps(reftorch.ones(2).storage()))
    assert isinstance(typed, TypedStorage) and typed.tolist() == [1.0, 1.0] and typed.dtype is reftorch.float32
