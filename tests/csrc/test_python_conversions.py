"""Which Python objects stand for an int or a number, and what becomes of integers that 64 bits do not hold.

Mirrors: nothing in PyTorch: its tests of this are scattered

Each line is an expression, evaluated in both libraries: results are equal, or the error and its first line.
"""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.native.differential import Program, assert_same_outcome

# A number is an int64, or a uint64 where it is past that; 2**63 beside integers keeps its bits.
WIDE_NUMBERS = """
i + 2**64; i + 2**63; i + (2**64 - 1); i - 2**63; i * 2**63; i / 2**63; i // 2**63; i % 2**63; i & 2**63; i << 2**63
2**63 - i; 2**63 // i; 2**63 / i; 2**64 / i; i ** 2**63; i ** 2**64; x ** 2**63; 2**63 * x; x + 2**63; x + 2**64
x + (-(2**63) - 1); x - 2**63; i == 2**63; i == 2**64; i < 2**63; x < 2**63; 2**64 < i; u + 2**63; b + 2**63
b & 2**64; torch.add(i, 1, alpha=2**63); torch.add(x, 1, alpha=2**63); torch.add(x, 1, alpha=2**64)
i.clone().add_(2**63); x.clone().mul_(2**63); torch.full((2,), 2**63); torch.full((2,), 2**70)
torch.full((2,), -(2**63) - 1); torch.full((2,), 2**63, dtype=torch.float32)
torch.full((2,), 2**63, dtype=torch.int32); torch.full((2,), 2**63, dtype=torch.bool); torch.full_like(i, 2**63)
torch.full_like(x, 2**63); x.new_full((2,), 2**64); torch.zeros(2).fill_(2**63); torch.zeros(2).half().fill_(2**63)
torch.zeros(2).byte().fill_(2**63); i.fill_(2**64); x.masked_fill(x > 1, 2**63); i.masked_fill(i > 1, 2**63)
i.index_fill(0, torch.tensor([0]), 2**63); torch.zeros(2).copy_(2**63); torch.arange(2**63); torch.arange(2**64)
torch.linspace(0, 2**63, 3); torch.linspace(0, 2**64, 3); torch.clamp(i, 2**63); x.clamp_min(2**63)
x.clamp_max(2**64); torch.where(x > 1, x, 2**63); torch.where(x > 1, 2**63, 0); torch.where(x > 1, 2**63, 2.0)
torch.addcmul(x, x, x, value=2**63); torch.lerp(x, x, 2**64); torch.nan_to_num(x, 2**64); torch.quantile(x, 2**64)
torch.quantile(x, 2**2000); torch.norm(x, 2**63); str(torch.result_type(i, 2**63)); torch.result_type(b, 2**63)
torch.bucketize(2**63, x[0]); torch.isin(2**63, x); x.scatter(0, torch.tensor([[0]]), 2**63)
i.scatter(0, torch.tensor([0]), 2**63); torch.float_power(x, 2**63); 2**63 in i; 2**64 in i
torch.scalar_tensor(2**63); torch.tensor(2**63); torch.tensor([1, 2**64]); torch.tensor([1.5, 2**64])
torch.tensor([1.5, 2**2000]); torch.tensor(2**70, dtype=torch.bool); torch.tensor(-(2**64), dtype=torch.float32)
put(x, 0, 2**63); put(i, 0, 2**64); put(x, [0], 2**63); put(u, 0, 2**63); x[2**63]; x[2**70]; x[0, 2**70]; x[2**70 :]
put(x, 2**70, 1); x.sum(2**63); x.transpose(2**64, 0); x.narrow(0, 2**64, 1); torch.topk(x, 2**63); torch.eye(2**64)
torch.manual_seed(2**64); torch.Generator().manual_seed(-(2**63) - 1); x.view(2**64); x.sum((0, 2**64))
torch.zeros(2**63)
"""

# An int for a dimension may be numpy's, or a tensor of no dimensions; where torch has a SymInt, whatever has __index__.
INTEGERS = """
x.sum(np.int64(1)); x.sum(np.uint8(1)); x.sum(np.bool_(True)); x.sum(np.float32(1)); x.sum(True)
x.sum(torch.tensor(1)); x.sum(torch.tensor([1])); x.sum(torch.tensor(1.0)); x.sum((np.int64(0), 1))
x.sum((torch.tensor([0]), 1)); x.sum((True, 1)); x.sum((0, True)); x.sum((1, 0.0)); x.transpose(np.int64(0), 1)
x.transpose(np.array(0), 1); x.transpose(torch.tensor(0), 1); x.transpose(torch.tensor([0]), 1); x.transpose(True, 0)
x.unsqueeze(np.array(0)); x.unsqueeze(torch.tensor(0, dtype=torch.uint8)); x.view(np.int64(6)); x.view(np.array(6))
x.view(torch.tensor([6])); x.view(3, torch.tensor(2)); x.view(6, True); x.view(True, 6); x.view(3, 2.0)
x.view(3.0, 2); x.reshape(np.array([3, 2])); x.reshape(6, True); x.permute(1, False); x.flip(0, True)
x.repeat(torch.tensor(2), 1); torch.zeros(np.int64(2), 3); torch.zeros(np.array(2)); torch.zeros(np.array([2, 3]))
torch.zeros(torch.tensor([2])); torch.zeros(2, True); torch.zeros(True, 2); torch.zeros(2, 2.0)
torch.full((2,), np.bool_(True)); torch.full((2,), np.array(1)); torch.full((2,), torch.tensor(1))
torch.arange(np.bool_(True)); torch.arange(np.int64(3)); torch.arange(torch.tensor(3))
torch.roll(x, torch.tensor([1])); torch.roll(x, np.int64(1)); torch.roll(x, 1.0); torch.cat((x, x), np.array(1))
x.narrow(0, np.array(0), 1); x.narrow(0, 0, torch.tensor([1])); x.select(0, np.array(1))
x.select(0, torch.tensor([1])); torch.topk(x, torch.tensor([2])); torch.topk(x, np.array(2)); torch.topk(x, 2.0)
torch.tril(x, np.array(1)); torch.eye(np.array(2)); torch.sort(x, 1, np.bool_(True)); x.sum(1, np.bool_(True))
torch.max(x, np.array(1)); torch.cumsum(x, np.array(1)); torch.norm(x, 2, np.int64(1))
torch.norm(x, 2, torch.tensor(1)); i + np.bool_(True); torch.nn.functional.normalize(x, 2, np.int64(1))
torch.nn.functional.layer_norm(x, 3); x.size(np.int64(0)); x.size(True); x.size(np.array(0)); x.size(0.0)
x.stride("a"); x.stride(torch.tensor(0)); torch.linspace(torch.tensor([0]), 1, 3); put(x, 0, np.float32(3))
put(x, 0, np.float64(3)); put(x, 0, np.int8(3)); put(x, 0, np.bool_(True)); put(x, 0, np.array(3))
torch.Tensor(np.int64(2)).shape; torch.Tensor(True); torch.Tensor(2, 3.0); torch.Tensor([1], device="cuda")
torch.Tensor(2, torch.tensor(3)).shape; torch.set_num_threads(1.0); torch.set_num_threads(True)
torch.set_num_threads("a")
"""


def in_library(expression: str) -> Program:
    def program(torch: Any) -> Any:
        def put(x: Any, index: Any, value: Any) -> Any:
            x[index] = value
            return x

        names = {
            "torch": torch,
            "np": np,
            "put": put,
            "i": torch.tensor([1, 2]),
            "x": torch.arange(6.0).view(2, 3),
            "u": torch.tensor([1, 250], dtype=torch.uint8),
            "b": torch.tensor([True, False]),
        }
        return eval(expression, names)

    return program


def expressions(table: str) -> list[str]:
    return [e.strip() for e in table.replace("\n", ";").split(";") if e.strip()]


@pytest.mark.parametrize("expression", expressions(WIDE_NUMBERS))
def test_numbers_past_64_bits(expression: str, real_torch: ModuleType) -> None:
    assert_same_outcome(in_library(expression), real_torch)


@pytest.mark.parametrize("expression", expressions(INTEGERS))
def test_what_stands_for_an_int(expression: str, real_torch: ModuleType) -> None:
    assert_same_outcome(in_library(expression), real_torch)


def test_no_tensor_of_uint64_comes_of_wide_numbers_alone() -> None:
    import reftorch

    with pytest.raises(NotImplementedError, match="uint64"):
        reftorch.add(2**63, 2**63)
    with pytest.raises(NotImplementedError, match="uint64"):
        reftorch.where(reftorch.tensor([True]), 2**63, 2**63)


def test_a_graph_keeps_a_wide_number_as_a_float() -> None:
    import reftorch

    x = reftorch.ones(2, requires_grad=True)
    y = x * 2**63
    kept = y.grad_fn._saved_other
    assert kept.dtype is reftorch.float64 and kept.clone().item() == 2.0**63
    y.sum().backward()
    assert x.grad is not None and x.grad.dtype is reftorch.float32 and x.grad.tolist() == [2.0**63] * 2
