"""Memory formats: the order in which the dimensions of a dense tensor lie in memory.

Mirrors: test/test_torch.py (test_memory_format_*)

Each line is an expression, evaluated in both libraries: strides and errors are torch's, of dimensions of size 1 too.
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.native.differential import assert_same_error, flat_numbers

CALLS = """
x.to(memory_format=torch.channels_last)
x[:1].to(memory_format=torch.channels_last)
x[:1].contiguous(memory_format=torch.channels_last)
torch.zeros(2, 3).contiguous(memory_format=torch.channels_last)
torch.zeros(2, 3, 4).to(memory_format=torch.channels_last)
x[:1, :1].to(memory_format=torch.channels_last)
x[:, :1].contiguous(memory_format=torch.channels_last)
x[:1, :1].contiguous(memory_format=torch.channels_last)
x[:, :, :1, :1].to(memory_format=torch.channels_last)
x.is_contiguous(memory_format=torch.channels_last)
last.is_contiguous(memory_format=torch.channels_last)
last.is_contiguous()
last.is_contiguous(memory_format=torch.contiguous_format)
x.is_contiguous(memory_format=torch.preserve_format)
torch.zeros(2, 3, 4).is_contiguous(memory_format=torch.channels_last)
torch.zeros(2, 0, 4, 5).is_contiguous(memory_format=torch.channels_last)
torch.zeros(1, 3, 1, 1).is_contiguous(memory_format=torch.channels_last)
torch.zeros(1, 0, 4, 5).to(memory_format=torch.channels_last)
x.contiguous(memory_format=torch.preserve_format)
last.contiguous()
torch.empty_like(last)
torch.zeros_like(last)
torch.empty_like(last, memory_format=torch.contiguous_format)
torch.empty_like(x, memory_format=torch.channels_last)
torch.empty(2, 3, 4, 5, memory_format=torch.channels_last)
torch.empty(2, 3, 4, memory_format=torch.channels_last)
torch.empty(2, 3, 4, 5, memory_format=torch.preserve_format)
torch.cat([last, last], 1)
torch.cat([last, x], 1)
torch.cat([last, torch.zeros(0)])
last + 1
last + x
x + last
last * last
last.neg()
last.relu()
last.exp()
last > 0
last.clone()
last.clone(memory_format=torch.contiguous_format)
x.clone(memory_format=torch.channels_last)
x.clone(memory_format=torch.preserve_format)
torch.zeros(2, 3, 4).clone(memory_format=torch.channels_last)
last.double()
last.half()
last.to(torch.float64, memory_format=torch.contiguous_format)
last.to(torch.float64)
last.to(torch.float32, memory_format=torch.channels_last)
x[:, :1] + last[:, :1]
last[:, :1] + x[:, :1]
last[:1] + torch.zeros(3, 1, 1)
torch.zeros(3, 1, 1) + last[:1]
x.transpose(2, 3).to(memory_format=torch.contiguous_format)
x[:, :1, :, :1].to(memory_format=torch.channels_last)
x[:, :, :1, :1] * 2
torch.where(last > 0, 1.0, 2.0)
torch.where(last > 0, last, x)
last.flip(2)
last.repeat(1, 1, 2, 1)
last.detach()
last.data
last[1:]
last.permute(0, 2, 3, 1)
last.view(2, 3, 20)
last.reshape(2, 3, 20)
last.clamp(min=0)
last.pow(2)
torch.add(last, x, out=torch.empty(0))
last.new_zeros(2, 3)
torch.rand_like(last) * 0
last.dim_order()
x.transpose(1, 3)[:, ::2].int() + 0.5
x.transpose(1, 3)[:, ::2].int().sin()
x.int().transpose(1, 3)[:, ::2] + 0.5
x.int().transpose(1, 3)[:, ::2].sin()
x.int().transpose(1, 3)[:, ::2] < 0.5
x.int().transpose(1, 3)[:, ::2, :1] + x[:, :3, :1].transpose(1, 3)[..., :3]
x.int().as_strided((3, 3), (2, 6)) < 2.5
x.as_strided((1, 3, 1), (2, 1, 3))[[0, 0]]
x.int().as_strided((3, 1, 2, 1), (2, 2, 6, 1)).sin()
x.int().as_strided((1, 3, 2), (6, 2, 6)).movedim(1, 2) / x[0, 0, 0, :3]
"""


def in_library(expression: str) -> Any:
    def program(torch: Any) -> Any:
        x = torch.arange(120.0).reshape(2, 3, 4, 5) - 60
        return eval(expression, {"torch": torch, "x": x, "last": x.to(memory_format=torch.channels_last)})

    return program


@pytest.mark.parametrize("expression", CALLS.strip().split("\n"))
def test_call(expression: str, real_torch: ModuleType) -> None:
    program = in_library(expression)
    try:
        want = program(real_torch)
    except Exception:
        assert_same_error(program, real_torch)
        return
    got = program(reftorch)
    if not hasattr(want, "stride"):
        assert got == want
        return
    assert str(got.dtype) == str(want.dtype)
    assert (tuple(got.shape), got.stride()) == (tuple(want.shape), want.stride())
    if not expression.startswith("torch.empty"):
        assert flat_numbers(got) == pytest.approx(flat_numbers(want))
