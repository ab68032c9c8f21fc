"""Asking for the same result each time.

Mirrors: test/test_torch.py (test_deterministic_flag, test_deterministic_empty, test_deterministic_resize)
Leaves out: what concerns CUDA.
"""

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

import reftorch

DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool")


@pytest.fixture(autouse=True)
def _put_back() -> Iterator[None]:
    yield
    for library in filter(None, (reftorch, sys.modules.get("torch"))):
        library.use_deterministic_algorithms(False)
        library.utils.deterministic.fill_uninitialized_memory = True
        library.set_float32_matmul_precision("highest")


def test_flag() -> None:
    for mode, warn_only, number in [(True, False, 2), (True, True, 1), (False, False, 0)]:
        reftorch.use_deterministic_algorithms(mode, warn_only=warn_only)
        assert reftorch.are_deterministic_algorithms_enabled() is mode
        assert reftorch.is_deterministic_algorithms_warn_only_enabled() is warn_only
        assert reftorch.get_deterministic_debug_mode() == number
    for number, name in enumerate(("default", "warn", "error")):
        for mode in (number, name):
            reftorch.set_deterministic_debug_mode(mode)
            assert reftorch.get_deterministic_debug_mode() == number


def test_refused(real_torch_or_none: ModuleType | None) -> None:
    for library in filter(None, (reftorch, real_torch_or_none)):
        with pytest.raises(TypeError, match=r"argument 'mode' .*must be bool, not int"):
            library.use_deterministic_algorithms(1)
        with pytest.raises(TypeError, match=r"argument 'warn_only' must be bool, not int"):
            library.use_deterministic_algorithms(True, warn_only=1)
        with pytest.raises(RuntimeError, match="invalid value of debug_mode, expected one of"):
            library.set_deterministic_debug_mode("loud")
        with pytest.raises(RuntimeError, match="invalid value of debug_mode, expected 0, 1, or 2"):
            library.set_deterministic_debug_mode(3)
        with pytest.raises(TypeError, match="debug_mode must be str or int"):
            library.set_deterministic_debug_mode([])
        with pytest.raises(RuntimeError, match="expected a bool, but got int"):
            library.utils.deterministic.fill_uninitialized_memory = 1
        with pytest.raises(RuntimeError, match="expects a str, but got int"):
            library.set_float32_matmul_precision(1)
        with pytest.raises(RuntimeError, match="flush_denormal expects a bool, but got int"):
            library.set_flush_denormal(1)


def fresh(library: ModuleType, dtype: str) -> list:
    """Tensors that nobody has written; the first two of the last one are ones."""
    kind = getattr(library, dtype)
    ones = library.ones(2, dtype=kind)
    return [
        library.empty(2, 3, dtype=kind),
        library.empty((), dtype=kind),
        library.empty(0, dtype=kind),
        library.empty_like(ones),
        library.empty_strided((2, 2), (1, 4), dtype=kind),
        library.empty_permuted((2, 3), (1, 0), dtype=kind),
        ones.new_empty(3),
        ones.new_empty_strided((2,), (3,)),
        library.ones(2, dtype=kind).resize_(5),
    ]


@pytest.mark.parametrize("dtype", DTYPES)
def test_fresh_memory(dtype: str, real_torch_or_none: ModuleType | None) -> None:
    reftorch.use_deterministic_algorithms(True)
    ours = fresh(reftorch, dtype)
    kind = getattr(reftorch, dtype)
    known = float("nan") if kind.is_floating_point else True if dtype == "bool" else reftorch.iinfo(kind).max
    for t in ours[:-1]:
        assert repr(t.flatten().tolist()) == repr([known] * t.numel())
    assert repr(ours[-1].tolist()) == repr([*reftorch.ones(2, dtype=kind).tolist(), known, known, known])
    if real_torch_or_none is not None:
        real_torch_or_none.use_deterministic_algorithms(True)
        theirs = fresh(real_torch_or_none, dtype)
        assert [repr(t.tolist()) for t in ours] == [repr(t.tolist()) for t in theirs]


def test_fresh_memory_is_left_alone() -> None:
    reftorch.use_deterministic_algorithms(True)
    reftorch.utils.deterministic.fill_uninitialized_memory = False
    assert reftorch.utils.deterministic.fill_uninitialized_memory is False
    x = reftorch.ones(4).resize_(2)
    assert x.resize_(4).tolist() == [1, 1, 1, 1]
    assert reftorch.zeros(2).tolist() == [0, 0] and reftorch.ones(2).new_zeros(2).tolist() == [0, 0]


def test_an_op_that_depends_on_the_order(real_torch_or_none: ModuleType | None) -> None:
    for library in filter(None, (reftorch, real_torch_or_none)):
        place, value = library.tensor([0, 0]), library.tensor([1.0, 2.0])
        library.use_deterministic_algorithms(True)
        with pytest.raises(RuntimeError, match="put_ does not have a deterministic implementation, but you set"):
            library.zeros(2).put_(place, value)
        assert library.zeros(2).put_(place, value, accumulate=True).tolist() == [3, 0]
        library.use_deterministic_algorithms(True, warn_only=True)
        with pytest.warns(UserWarning, match="put_ does not have a deterministic implementation, but you set"):
            library.zeros(2).put_(place, value)


def test_float32_matmul_precision() -> None:
    for word in ("high", "medium", "highest"):
        reftorch.set_float32_matmul_precision(word)
        assert reftorch.get_float32_matmul_precision() == word
    with pytest.warns(UserWarning, match="low is not one of"):
        reftorch.set_float32_matmul_precision("low")
    assert reftorch.get_float32_matmul_precision() == "highest"


def test_flush_denormal() -> None:
    tiny = reftorch.tensor([1.0, 1e-42])
    assert tiny[1].item() != 0
    if reftorch.set_flush_denormal(True):
        try:
            assert (tiny * 1).tolist()[1] == 0
        finally:
            assert reftorch.set_flush_denormal(False)
    assert tiny[1].item() != 0
