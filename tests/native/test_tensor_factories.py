"""Tensors out of nothing.

Mirrors: test/test_tensor_creation_ops.py
"""

import math
from types import ModuleType

import numpy as np
import pytest

import reftorch
from tests.native.differential import Program, assert_same, assert_same_error, numbers

INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")

RESULTS: dict[str, Program] = {
    "zeros": lambda t: [t.zeros(2, 3), t.zeros((2, 3)), t.zeros([]), t.zeros(0, 3), t.zeros(2, dtype=t.int8)],
    "ones": lambda t: [t.ones(2, 3), t.ones(2, dtype=t.bool)],
    "full infers": lambda t: [t.full((2,), 3), t.full((2,), 3.5), t.full((2,), True), t.full((2,), 1, dtype=t.float16)],
    "scalar_tensor": lambda t: t.scalar_tensor(3),
    "pinned memory on meta": lambda t: [
        t.empty(2, device="meta", pin_memory=True).shape,
        t.zeros(2, device="meta").new_empty(2, pin_memory=True).shape,
        t.tensor([1.0], device="meta", pin_memory=True).is_meta,
        t.empty(2, pin_memory=False).is_pinned(),
    ],
    "zeros_like": lambda t: [t.zeros_like(numbers(t, 2, 3).t()), t.zeros_like(numbers(t, 2), dtype=t.int32)],
    "ones_like": lambda t: t.ones_like(numbers(t, 2, 3, 4).permute(2, 0, 1)),
    "full_like": lambda t: t.full_like(numbers(t, 2, 3), 7),
    "like of a part": lambda t: t.zeros_like(numbers(t, 4, 6)[:, ::2].t()),
    "like of an expanded": lambda t: t.zeros_like(numbers(t, 3, 1).expand(3, 4)),
    "like contiguous": lambda t: t.zeros_like(numbers(t, 2, 3).t(), memory_format=t.contiguous_format),
    "new": lambda t: [
        numbers(t, 2, dtype="int32").new_zeros(2, 3),
        numbers(t, 2).new_ones((3,)),
        numbers(t, 2).new_full((2,), 5),
        numbers(t, 2).new_zeros(2, dtype=t.bool),
    ],
    "empty": lambda t: [list(t.empty(2, 3).shape), str(t.empty(2, dtype=t.int16).dtype)[-5:]],
    "empty_strided": lambda t: t.empty_strided((2, 3), (1, 2)).fill_(1),
    "channels_last": lambda t: t.empty(2, 3, 4, 5, memory_format=t.channels_last).fill_(1),
    "new_empty": lambda t: numbers(t, 2, dtype="int64").new_empty(3).fill_(2),
    "eye": lambda t: [t.eye(3), t.eye(2, 4), t.eye(4, 2, dtype=t.int64), t.eye(0)],
    "arange": lambda t: [t.arange(5), t.arange(1, 4), t.arange(1, 10, 3), t.arange(5, 0, -2), t.arange(0)],
    "arange floats": lambda t: [t.arange(0.5, 3), t.arange(1, 2, 0.25), t.arange(5.0), t.arange(1.0, -1.0, -0.3)],
    "arange dtypes": lambda t: [t.arange(5, dtype=getattr(t, d)) for d in (*INTEGERS, *FLOATS)],
    "arange out": lambda t: t.arange(4, out=t.empty(0, dtype=t.int32)),
    "arange of parts": lambda t: [t.arange(0, 10, 2.5, dtype=d) for d in (t.int64, t.int32, t.float32)],
    "arange large": lambda t: t.arange(2**53, 2**53 + 3),
    "linspace": lambda t: [t.linspace(0, 1, 5), t.linspace(3, -3, 4), t.linspace(0, 1, 1), t.linspace(0, 1, 0)],
    "linspace dtypes": lambda t: [t.linspace(0, 10, 6, dtype=getattr(t, d)) for d in ("int32", "float64", "uint8")],
    "logspace": lambda t: [t.logspace(0, 2, 3), t.logspace(0, 8, 9, base=2), t.logspace(1, -3, 5, dtype=t.float64)],
    "logspace dtypes": lambda t: [t.logspace(0, 2, 5, dtype=getattr(t, d)) for d in ("int32", "float16", "uint8")],
    "logspace out": lambda t: t.logspace(0, 3, 4, out=t.empty(0, dtype=t.float64)),
    "tril_indices": lambda t: [t.tril_indices(3, 3), t.tril_indices(4, 3, -1), t.tril_indices(3, 5, 2, dtype=t.int32)],
    "triu_indices": lambda t: [
        t.triu_indices(3, 3),
        t.triu_indices(4, 3, -1),
        t.triu_indices(3, 5, 2),
        t.triu_indices(0, 3),
    ],
    "vander": lambda t: [t.vander(t.tensor([1, 2, 3])), t.vander(t.tensor([1.5, 2.0]), 4, increasing=True)],
    "empty_permuted": lambda t: t.empty_permuted((2, 3, 4), (2, 0, 1)).fill_(1),
    "out": lambda t: [
        t.zeros(2, out=t.ones(2)),
        t.ones(2, 3, out=t.zeros(2, 3, dtype=t.int8)),
        t.full((2,), 3, out=t.zeros(2, dtype=t.float64)),
        t.full((2, 2), 3, out=t.zeros(2, 2).t()),
        t.eye(3, out=t.empty(0)),
        t.eye(2, 3, out=t.ones(3, 2).t()),
        list(t.empty(2, 3, out=t.empty(0)).shape),
        t.linspace(0, 1, 3, out=t.empty(6)[::2]),
    ],
    "fill_": lambda t: [numbers(t, 2, 3, dtype=d).fill_(v) for d in (*INTEGERS, *FLOATS, "bool") for v in (0, 1, 3)],
    "fill_ tensor": lambda t: numbers(t, 2).fill_(t.tensor(2.5)),
    "fill_ transposed": lambda t: numbers(t, 2, 3).t().fill_(2),
    "fill_ expanded": lambda t: numbers(t, 3, 1).expand(3, 2).fill_(2),
    "numbers wrap in arithmetic": lambda t: [numbers(t, 3, dtype="int8") + 300, numbers(t, 3, dtype="uint8") * 257],
    "halves have infinities": lambda t: [t.full((1,), 1e10, dtype=t.float16), t.full((1,), 1e300, dtype=t.bfloat16)],
    "zero_": lambda t: [numbers(t, 2, 3).zero_(), numbers(t, 4, 4)[::2, 1].zero_()],
    "negative bytes": lambda t: t.tensor([-1, -255, 7], dtype=t.uint8),
    "a negative float as a small integer": lambda t: t.tensor([-1.5, 126.5], dtype=t.int8),
    "numbers of numpy's": lambda t: [
        t.tensor([v]) for v in (np.float64(1.5), np.int32(1), np.float16(1), np.bool_(True))
    ],
    "into another size": lambda t: [
        t.zeros(2, 3, out=t.empty(6)),
        t.ones(2, out=t.empty(3)),
        t.full((2,), 7, out=t.empty(1)),
    ],
}

ERRORS: dict[str, Program] = {
    "negative": lambda t: t.empty(-1),
    "full overflow": lambda t: t.full((2,), 300, dtype=t.int8),
    "fill_ overflow": lambda t: t.zeros(2).fill_(1e39),
    "masked_fill overflow": lambda t: t.zeros(2, dtype=t.int8).masked_fill(t.tensor([True, False]), 300),
    "clamp overflow": lambda t: t.zeros(2, dtype=t.int16).clamp(max=40000),
    "alpha overflow": lambda t: t.add(t.zeros(2, dtype=t.uint8), t.zeros(2, dtype=t.uint8), alpha=256),
    "linspace overflow": lambda t: t.linspace(0, 300, 4, dtype=t.int8),
    "full nan": lambda t: t.full((2,), float("nan"), dtype=t.int64),
    "arange step 0": lambda t: t.arange(0, 5, 0),
    "arange part of a step": lambda t: t.arange(0, 1, 0.1, dtype=t.int64),
    "arange sign": lambda t: t.arange(0, 5, -1),
    "arange inf": lambda t: t.arange(0, float("inf")),
    "arange bool": lambda t: t.arange(0, 2, dtype=t.bool),
    "linspace negative": lambda t: t.linspace(0, 1, -1),
    "logspace negative": lambda t: t.logspace(0, 1, -1),
    "tril_indices negative": lambda t: t.tril_indices(-1, 3),
    "triu_indices negative": lambda t: t.triu_indices(1, -3),
    "triu_indices float": lambda t: t.triu_indices(1, 3, dtype=t.float32),
    "vander matrix": lambda t: t.vander(t.ones(2, 2)),
    "empty_permuted length": lambda t: t.empty_permuted((2, 3), (0,)),
    "empty_permuted twice": lambda t: t.empty_permuted((2, 3), (0, 0)),
    "out of another dtype": lambda t: t.zeros(2, out=t.zeros(2), dtype=t.float64),
    "rand out of another dtype": lambda t: t.rand(2, out=t.zeros(2), dtype=t.float64),
    "arange out of another dtype": lambda t: t.arange(2, out=t.zeros(2), dtype=t.float64),
    "zeros negative": lambda t: t.zeros(-1),
    "zeros of a float": lambda t: t.zeros(2.5),
    "full of an int": lambda t: t.full(2, 3),
    "eye negative": lambda t: t.eye(-1),
    "pin_memory": lambda t: t.empty(2, pin_memory=True),
    "zeros in pinned memory": lambda t: t.zeros(2, pin_memory=True),
    "full in pinned memory": lambda t: t.full((2,), 1, pin_memory=True),
    "arange in pinned memory": lambda t: t.arange(3, pin_memory=True),
    "eye in pinned memory": lambda t: t.eye(3, pin_memory=True),
    "rand in pinned memory": lambda t: t.rand(3, pin_memory=True),
    "randperm in pinned memory": lambda t: t.randperm(3, pin_memory=True),
    "hann_window in pinned memory": lambda t: t.hann_window(3, pin_memory=True),
    "tril_indices in pinned memory": lambda t: t.tril_indices(3, 3, pin_memory=True),
    "tensor in pinned memory": lambda t: t.tensor([1.0], pin_memory=True),
    "no elements in pinned memory": lambda t: t.empty(0, pin_memory=True),
    "empty_strided in pinned memory": lambda t: t.empty_strided((2,), (1,), pin_memory=True),
    "ones_like in pinned memory": lambda t: t.ones_like(t.zeros(2), pin_memory=True),
    "new_zeros in pinned memory": lambda t: t.zeros(2).new_zeros(2, pin_memory=True),
    "fill_ with a vector": lambda t: t.zeros(3).fill_(t.zeros(2)),
    "strides": lambda t: t.empty_strided((2, 3), (1,)),
    "channels_last of 3-d": lambda t: t.zeros(3).contiguous(memory_format=t.channels_last),
    "too negative for bytes": lambda t: t.tensor([-256], dtype=t.uint8),
    "a negative float as bytes": lambda t: t.tensor([-0.5], dtype=t.uint8),
    "too large a float": lambda t: t.tensor([127.9], dtype=t.int8),
    "nan as an integer": lambda t: t.tensor([math.nan], dtype=t.int64),
}


@pytest.mark.parametrize("name", RESULTS)
def test_result(name: str, real_torch: ModuleType) -> None:
    assert_same(RESULTS[name], real_torch)


@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str, real_torch: ModuleType) -> None:
    assert_same_error(ERRORS[name], real_torch)


def test_no_cuda() -> None:
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        reftorch.empty(2, device=0)
    for device in ("cuda", "cuda:1", reftorch.device("cuda")):
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            reftorch.empty(2, device=device)
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            reftorch.tensor([1.0], device=device)
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            reftorch.ones(2).to(device)


def test_like_takes_no_gradient() -> None:
    x = reftorch.ones(2, requires_grad=True)
    assert not any(y.requires_grad for y in (reftorch.zeros_like(x), x.new_ones(2), reftorch.empty_like(x)))


def test_default_dtype() -> None:
    before = reftorch.get_default_dtype()
    try:
        reftorch.set_default_dtype(reftorch.float64)
        assert reftorch.zeros(2).dtype == reftorch.arange(2.0).dtype == reftorch.full((), 1.0).dtype == reftorch.float64
        assert reftorch.arange(2).dtype == reftorch.int64
    finally:
        reftorch.set_default_dtype(before)


def test_unsigned_numbers_wrap_integers_and_refuse_negative_floats(real_torch_or_none: ModuleType | None) -> None:
    for t in (reftorch, real_torch_or_none or reftorch):
        assert t.full((2,), -1, dtype=t.uint8).tolist() == [255, 255]
        for call in (
            lambda t=t: t.full((2,), -1.0, dtype=t.uint8),
            lambda t=t: t.zeros(2, dtype=t.uint8).fill_(-0.5),
            lambda t=t: t.zeros(2, dtype=t.uint8).masked_fill(t.tensor([True, False]), -1.0),
            lambda t=t: t.linspace(t.tensor(-1.0), 3, 5, dtype=t.uint8),
        ):
            with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t without overflow"):
                call()


HALF_OVERFLOWS = {
    "full": lambda t, d, big: t.full((2,), big, dtype=d),
    "fill_": lambda t, d, big: t.zeros(2, dtype=d).fill_(big),
    "full_like": lambda t, d, big: t.full_like(t.zeros(2, dtype=d), -big),
    "masked_fill": lambda t, d, big: t.zeros(2, dtype=d).masked_fill(t.tensor([True, False]), -big),
    "index_fill": lambda t, d, big: t.zeros(2, dtype=d).index_fill(0, t.tensor([0]), big),
    "linspace": lambda t, d, big: t.linspace(0, big, 3, dtype=d),
}


@pytest.mark.parametrize("name", HALF_OVERFLOWS)
def test_a_number_too_large_for_16_bits_is_refused(name: str, real_torch_or_none: ModuleType | None) -> None:
    call = HALF_OVERFLOWS[name]
    for t in filter(None, (reftorch, real_torch_or_none)):
        for dtype, cpp_name, big in ((t.float16, "c10::Half", 65520.0), (t.bfloat16, "c10::BFloat16", 3.4e38)):
            with pytest.raises(RuntimeError, match=f"value cannot be converted to type {cpp_name} without overflow"):
                call(t, dtype, big)


def test_arithmetic_with_a_large_number_rounds_to_infinity(real_torch: ModuleType) -> None:
    def program(t):
        x = t.ones(2, dtype=t.float16)
        return [x + 1e6, x * 1e6, 1e6 - x, x / 1e-6, x < 1e6, t.tensor([1e6], dtype=t.float16), t.full_like(x, t.inf)]

    assert_same(program, real_torch)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int64"])
def test_linspace_is_torchs_to_the_last_bit(dtype: str, real_torch: ModuleType) -> None:
    for start, end, steps in (
        (-1, 1, 11),
        (0, 1, 32),
        (-0.5, 1.5, 97),
        (-5, 5, 101),
        (0, 1, 1000),
        (1, -1, 2),
        (3, 3, 4),
    ):
        results = [t.linspace(start, end, steps, dtype=getattr(t, dtype)).tolist() for t in (reftorch, real_torch)]
        assert results[0] == results[1], (start, end, steps)
