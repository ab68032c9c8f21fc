"""Storages: bytes and numbers that tensors share.

Mirrors: test/test_torch.py (test_storage*), test/test_utils.py
"""

import copy
import gc
import pickle
import subprocess
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import reftorch
from reftorch import TypedStorage, UntypedStorage
from tests.answers.watched import asked
from tests.op_db.checks import check_error

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


def test_storages_of_one_memory_are_equal(real_torch_or_none: ModuleType | None) -> None:
    def program(lib: ModuleType) -> None:
        x, y = lib.zeros(2), lib.zeros(2)
        assert x.untyped_storage() == x[1:].untyped_storage() and x.untyped_storage() != y.untyped_storage()
        assert len({x.untyped_storage(), x.view(2, 1).untyped_storage(), y.untyped_storage()}) == 2
        assert x.untyped_storage() != 3

    program(reftorch)
    if real_torch_or_none is not None:
        asked(real_torch_or_none, program)


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


def test_writing_bytes(real_torch_or_none: ModuleType | None) -> None:
    for library in filter(None, (reftorch, real_torch_or_none)):
        storage = library.UntypedStorage([1, 2, 300])
        storage[0] = 257
        assert storage.tolist() == [1, 2, 44]
        with pytest.raises(RuntimeError, match="one of the items was of type str instead of int"):
            library.UntypedStorage("a")
        with pytest.raises(TypeError, match=r"can't index a torch.UntypedStorage with str"):
            storage["a"]
        with pytest.raises(
            RuntimeError, match=r"can't index a <class '(ref)?torch.storage.TypedStorage'> with <class 'str'>"
        ):
            library.ones(2).storage()["a"]
        assert library.ones(2).long().storage_type() is library.LongStorage


def test_a_tensor_set_beyond_the_storage_makes_it_grow(real_torch_or_none: ModuleType | None) -> None:
    for library in filter(None, (reftorch, real_torch_or_none)):
        storage = library.arange(6.0).untyped_storage()
        x = library.empty(0).set_(storage, 4, (8,), (1,))
        assert x.shape == (8,) and storage.nbytes() == 48 and x[:2].tolist() == [4, 5]
        with pytest.raises(RuntimeError, match="not resizable"):
            library.empty(0).set_(library.from_numpy(np.ones(2, np.float32)), 0, (5,), (1,))
        leaf = library.ones(3, requires_grad=True)
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place"):
            leaf.set_(library.ones(2))
        with library.no_grad():
            assert leaf.set_(library.ones(2)).shape == (2,)


def test_storages_without_data(real_torch: ModuleType) -> None:
    def results(lib: Any) -> list:
        storage = lib.empty(6, device="meta").untyped_storage()
        made = [
            storage.clone(),
            storage.fill_(0),
            storage.copy_(lib.ones(6).untyped_storage()),
            storage.new(),
            copy.copy(storage),
            copy.deepcopy(storage),
            copy.deepcopy(lib.empty(2, 3, device="meta")).untyped_storage(),
            copy.deepcopy(lib.nn.Linear(2, 3, device="meta")).weight.untyped_storage(),
        ]
        return [(str(s.device), s.nbytes()) for s in made]

    assert results(reftorch) == asked(real_torch, results)


def test_a_storage_without_data_has_nothing_to_read(real_torch: ModuleType) -> None:
    for read in (lambda s: s[0], lambda s: s[0:2], lambda s: s.tolist()):
        check_error(
            lambda lib, read=read: read(lib.empty(6, device="meta").untyped_storage()),
            NotImplementedError,
            "Not available for 'meta' device type",
            real_torch,
        )


def test_storages_of_other_sizes_are_not_copied(real_torch: ModuleType) -> None:
    check_error(
        lambda lib: lib.UntypedStorage(4).copy_(lib.UntypedStorage(1)),
        RuntimeError,
        "size does not match, self was 4 bytes but src was 1 bytes",
        real_torch,
    )


@pytest.mark.parametrize("lend", ["numpy", "dlpack", "view"])
def test_memory_that_was_lent_outlives_the_move_into_shared_memory(lend: str) -> None:
    x = reftorch.arange(4096.0)
    seen = {
        "numpy": lambda: x.numpy(),
        "dlpack": lambda: reftorch.from_dlpack(x.__dlpack__()),
        "view": lambda: x[10:].numpy(),
    }[lend]()
    before = seen.tolist()
    x.share_memory_()
    fresh = [reftorch.full((4096,), -1.0) for _ in range(50)]
    assert seen.tolist() == before
    assert x.is_shared() and x[:3].tolist() == [0.0, 1.0, 2.0] and len(fresh) == 50


def test_typed_storages_warn_once_a_process() -> None:
    program = (
        "import warnings, reftorch\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    reftorch.ones(1).storage(), reftorch.ones(1).storage(), reftorch.FloatStorage(1)\n"
        "print([str(w.message)[:26] for w in caught])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "['TypedStorage is deprecated']\n"


def test_shared_memory_stays_under_its_tensors() -> None:
    x = reftorch.arange(4.0)
    half = x[2:]
    assert not x.is_shared() and x.share_memory_() is x and x.is_shared() and half.is_shared()
    x[3] = 7
    assert half.tolist() == [2.0, 7.0] and x.storage().is_shared()
    where = x.data_ptr()
    assert x.share_memory_().data_ptr() == where
    with pytest.raises(RuntimeError, match="not resizable"):
        x.untyped_storage().resize_(64)
    assert reftorch.zeros(0).share_memory_().is_shared()


def test_a_forked_child_writes_shared_memory() -> None:
    program = """
import os
import reftorch as torch

shared, own = torch.zeros(2).share_memory_(), torch.zeros(2)
child = os.fork()
if child == 0:
    shared[1], own[1] = 5, 5
    os._exit(0)
os.waitpid(child, 0)
print(shared.tolist(), own.tolist())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout == "[0.0, 5.0] [0.0, 0.0]\n"


def test_nothing_can_be_pinned(real_torch_or_none: ModuleType | None) -> None:
    for t in filter(None, (reftorch, real_torch_or_none)):
        with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
            t.ones(2).pin_memory()
