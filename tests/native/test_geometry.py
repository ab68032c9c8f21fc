"""Sizes, strides and offsets from outside never reach past the memory of a storage.

Mirrors: nothing in PyTorch: its checks of this kind are spread over test/test_torch.py
"""

import gc
from typing import Any

import numpy as np
import pytest

import reftorch
from tests.native.differential import raised

HUGE, MOST = 2**62, 2**63 - 1
GEOMETRIES: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = [
    (10**8, (2,), (-(10**8),)),
    (0, (2,), (-1,)),
    (0, (-2,), (1,)),
    (0, (2, -3), (1, 1)),
    (-1, (2,), (1,)),
    (MOST, (2,), (1,)),
    (HUGE, (2,), (1,)),
    (0, (2,), (MOST,)),
    (MOST, (2,), (MOST,)),
    (0, (2**40, 2**40), (0, 0)),
    (0, (2**32, 2**32), (1, 1)),
    (0, (MOST,), (MOST,)),
    (0, (3, 3, 3), (HUGE, HUGE, HUGE)),
]


@pytest.mark.parametrize(("offset", "size", "stride"), GEOMETRIES)
def test_set_refuses_what_torch_refuses(offset: int, size: Any, stride: Any, real_torch: Any) -> None:
    for lib in (reftorch, real_torch):
        source, x = lib.arange(4.0), lib.arange(3.0)
        for memory in (source, source.untyped_storage())[: 1 if lib is real_torch else 2]:
            with pytest.raises(RuntimeError):
                x.set_(memory, offset, size, stride)
        # A refused call changes nothing here. In torch x may have lost its memory by now, so torch's x is not read.
        assert lib is real_torch or x.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(("offset", "size", "stride"), GEOMETRIES)
def test_as_strided_and_rebuilt_tensors_refuse_it_too(offset: int, size: Any, stride: Any) -> None:
    x = reftorch.arange(4.0)
    for make in (
        lambda: x.as_strided(size, stride, offset),
        lambda: x.as_strided_(size, stride, offset),
        lambda: reftorch.as_strided_copy(x, size, stride, offset),
        lambda: reftorch._utils._rebuild_tensor(x._typed_storage(), offset, size, stride),
        lambda: reftorch._utils._rebuild_tensor_v2(x._typed_storage(), offset, size, stride, False, {}),
    ):
        with pytest.raises(RuntimeError):
            make()
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_an_offset_counts_from_the_first_element_of_the_source(real_torch: Any) -> None:
    for lib in (reftorch, real_torch):
        source = lib.arange(6.0)[2:]
        assert lib.empty(0).set_(source, 1, (2,), (1,)).tolist() == [3.0, 4.0]
        assert lib.empty(0).set_(source.untyped_storage(), 1, (2,), (1,)).tolist() == [1.0, 2.0]
        with pytest.raises(RuntimeError, match="must be contiguous"):
            lib.empty(0).set_(lib.ones(2, 3).t(), 0, (2,), (1,))


MESSAGES = [
    lambda lib: lib.ones(3).set_(lib.ones(4), 10**8, (2,), (-(10**8),)),
    lambda lib: lib.ones(3).set_(lib.ones(4), -1, (2,), (1,)),
    lambda lib: lib.ones(3).set_(lib.ones(4), HUGE, (2,), (1,)),
    lambda lib: lib.ones(3).set_(lib.ones(4), 0, (2**40, 2**40), (0, 0)),
    lambda lib: lib.ones(3).as_strided((2,), (-1,)),
    lambda lib: lib.ones(3).as_strided((-1,), (1,)),
    lambda lib: lib.ones(3).as_strided((2,), (1,), -1),
    lambda lib: lib.ones(3).as_strided((2,), (MOST,)),
    lambda lib: lib.ones(3).as_strided((3,), (2,)),
    lambda lib: lib.empty_strided((2,), (-1,)),
    lambda lib: lib.empty_strided((-2,), (1,)),
    lambda lib: lib.empty((2**40, 2**40)),
    lambda lib: lib.ones(3).resize_(HUGE),
]


@pytest.mark.parametrize("program", MESSAGES)
def test_the_words_are_torch_s(program: Any, real_torch: Any) -> None:
    ours, theirs = raised(program, reftorch), raised(program, real_torch)
    assert ours[0] == theirs[0] and ours[1].startswith(theirs[1])


def test_a_resize_that_fails_changes_nothing() -> None:
    x = reftorch.from_numpy(np.arange(3.0))
    with pytest.raises(RuntimeError, match="not resizable"):
        x.resize_(1000)
    assert x.shape == (3,) and x.tolist() == [0.0, 1.0, 2.0]
    y = reftorch.ones(2)
    with pytest.raises(RuntimeError):
        y.resize_(2**40, 2**40)
    assert y.tolist() == [1.0, 1.0]


def test_a_storage_that_shrinks_under_a_tensor() -> None:
    x = reftorch.arange(100_000.0)
    first = x[:10]
    x.untyped_storage().resize_(40)
    assert first.sum() == 45.0  # still inside
    for read in (lambda: x.sum(), lambda: x.tolist(), lambda: x[5000:].clone(), lambda: x.add_(1), lambda: x.numpy()):
        with pytest.raises(RuntimeError, match="out of bounds for storage of size 40"):
            read()
    x.untyped_storage().resize_(400_000)
    assert x.shape == (100_000,) and x[:10].sum() == 45.0
    empty = reftorch.ones(3)
    empty.untyped_storage().resize_(0)
    with pytest.raises(RuntimeError, match="storage of size 0"):
        empty + 1


def test_memory_that_others_look_at_does_not_move(real_torch: Any) -> None:
    for lib in (reftorch, real_torch):
        x = lib.arange(3.0)
        array = x.numpy()
        with pytest.raises(RuntimeError, match="not resizable"):
            x.resize_(100_000)
        with pytest.raises(RuntimeError, match="not resizable"):
            x.untyped_storage().resize_(0)
        assert array.tolist() == [0.0, 1.0, 2.0]
    y = reftorch.arange(3.0)
    other = np.from_dlpack(y)
    with pytest.raises(RuntimeError, match="not resizable"):
        y.resize_(100_000)
    del y
    gc.collect()
    assert other.tolist() == [0.0, 1.0, 2.0]
