"""Calls on which the drawn comparison, `make parity`, once found a difference: they are torch's now.

Mirrors: test/test_ops.py

Each line is an expression, evaluated in both libraries with the tensors of ``names``: value, dtype, shape, strides and
the type of the error are compared.
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.op_db.checks import assert_same_outcome

CALLS = """
torch.isclose(odd, torch.ones(3, 1))
torch.isclose(odd, odd, equal_nan=True)
torch.isclose(torch.tensor(16777216), torch.tensor(16777217), rtol=0, atol=0.5)
torch.logical_and(torch.ones(3, 1).t(), torch.ones(1, 6)[:, ::2])
torch.logical_xor(torch.ones(3, 1).int().t(), torch.ones(1, 6)[:, ::2])
torch.logical_or(torch.ones(2, 3).t(), torch.ones(2, 3).t())
torch.linalg.matrix_power(torch.ones(3, 3).t(), 1)
torch.linalg.matrix_power(torch.ones(3, 1, 1).transpose(0, 2), 3)
torch.linalg.matrix_power(torch.ones(2, 1, 1).as_strided((2, 1, 1), (1, 5, 7)), 3)
torch.linalg.matrix_power(torch.ones(2, 1, 1).as_strided((2, 1, 1), (1, 5, 7)), -3)
torch.linalg.cond(torch.ones(1, 0), 0)
torch.nn.functional.bilinear(torch.ones(()), torch.ones(()), torch.ones(2, 3))
torch.ones(0, 1).index_reduce(-1, torch.tensor(1), torch.ones(0, 1), 'prod')
torch.ones(0, 1).index_reduce(-1, torch.tensor(0), torch.ones(0, 1), 'mean')
torch.ones(0).index_reduce(0, torch.zeros(0, dtype=torch.int32), torch.ones(0), 'amax')
torch.linalg.cond(torch.ones(2, 3), 3)
torch.roll(torch.ones(0, 2), (1, 1), (3, 0))
torch.take_along_dim(torch.ones(1, 2), torch.tensor([1], dtype=torch.int32))
torch.nn.functional.linear(torch.ones(2, 1, 3), torch.ones(2, 3), torch.ones(2, 1, 2))
torch.nn.functional.linear(torch.ones(3), torch.ones(2, 3), torch.ones(1, 2))
torch.nn.functional.linear(torch.ones(3), torch.ones(2, 3), torch.ones(1, 1, 2))
torch.nn.functional.linear(torch.ones(2, 2, 1, 3), torch.ones(2, 3), torch.ones(2).double())
torch.nn.functional.linear(torch.ones(2, 2, 0, 3), torch.ones(2, 3), torch.ones(2))
torch.native_layer_norm(torch.ones(1, 3).long(), (3,), torch.ones(3).long(), torch.ones(3), 1e-5)
torch.linalg.solve_triangular(torch.ones(2, 1, 3, 3).half(), torch.ones(0, 3, 2).half(), upper=False)
torch.linalg.solve_triangular(torch.ones(2, 3, 3).half(), torch.ones(5, 3, 2).half(), upper=False)
torch.slice_scatter(torch.ones(3), none, 1, None, None, 0)
torch.slice_scatter(torch.ones(3), none, 0, None, None, 0)
torch.bernoulli(none.long())
torch.bernoulli(none.bool())
torch.bernoulli(torch.ones(2).long())
torch.zeros(0).bernoulli_(torch.zeros(2, 2))
torch.normal(0.5, none.long())
torch.normal(0.5, none.bool())
torch.normal(none.long(), none.long())
torch.normal(0.5, torch.ones(2).long())
x.scatter(0, torch.zeros(0, 3), x)
x.scatter(0, torch.zeros(1, 3), x)
x.scatter(0, torch.zeros(0, 3), 2.0, reduce="add")
x.scatter_add(0, torch.zeros(0, 3), x)
x.scatter_reduce(0, torch.zeros(0, 3), x, "mean")
x.bool().scatter_reduce(0, torch.zeros(0, 3).long(), x.bool(), "mean")
x.int().scatter_reduce(0, torch.zeros(0, 3).long(), x.int(), "mean")
x.bool().scatter_reduce(0, torch.full((1, 3), 7), x.bool(), "mean")
x.bool().scatter_reduce(0, torch.full((1, 3), 7), x.bool(), "mean", include_self=False)
x.bool().scatter_reduce(0, torch.full((1, 3), 1), x.bool(), "mean", include_self=False)
torch._C._nn.nll_loss(x, torch.tensor(1, dtype=torch.int32))
torch._C._nn.nll_loss(x, torch.tensor(1))
torch._C._nn.nll_loss(x[0], torch.tensor([1, 1], dtype=torch.int32))
torch._C._nn.nll_loss(x[0], torch.tensor([1, 1]), torch.ones(2))
torch._C._nn.nll_loss(x[0].long(), torch.tensor(1), torch.ones(3))
torch._C._nn.nll_loss(x[0], torch.tensor(1), torch.ones(3).double())
x.half() * 1e5
x.half() * torch.tensor(1e5)
x.half() / 1e5
x.half() / 1e-8
torch.div(x.bfloat16(), 1e39, rounding_mode="trunc")
torch.div(x.half(), 7e4, rounding_mode="floor")
torch.add(x.half(), x.half(), alpha=1e5)
torch.sub(x.half(), x.half(), alpha=7e4)
torch.clamp(x.half(), max=1e5)
torch.clamp(x.half(), -7e4, 1.0)
torch.clamp_min(x.half(), -float("inf"))
torch.clamp(x.bfloat16(), max=1e5)
torch.ldexp(torch.tensor(0.3, dtype=torch.float64), torch.tensor(-0.1686))
torch.ldexp(torch.tensor(0.3, dtype=torch.float64), torch.tensor([-0.1686]))
torch.ldexp(torch.tensor(3), torch.tensor(-1))
torch.range(5, 0, 0, dtype=torch.bool)
torch.trace(torch.ones((), dtype=torch.bool))
torch.trace(torch.ones(()))
torch.slice_copy(torch.ones(1), -2, 0, 4, -3)
torch.slice_copy(torch.ones(1), 0, 0, 4, -3)
torch.repeat_interleave(torch.ones(1), torch.ones(1, 3).long(), 1)
torch.repeat_interleave(torch.ones(1), torch.ones(3).long(), 1)
torch.sum(x, out=none)
torch.sum(x, dtype=torch.float64, out=none.double())
torch.sum(x, (0, 1), out=none)
torch.prod(x, out=none)
torch.prod(x, 0, out=none)
torch.mean(x, out=none)
torch.dist(x, x, out=none)
torch.remainder(7, x, out=none)
torch.bitwise_and(7, x.int(), out=none.int())
torch.bitwise_left_shift(7, x.int(), out=none.int())
torch.select_scatter(x, x[0], 0, 0, out=none)
torch.diagonal_scatter(x, x[0, :2], out=none)
torch.as_strided_scatter(x, x[0], (3,), (1,), out=none)
torch.slice_scatter(x, x, 0, out=none)
torch.ones(1).addmv(torch.ones(3, 0), none)
torch.ones(1).addmv(torch.ones(3, 0), none, beta=2)
torch.ones(1).addmv(torch.ones(3, 0), none, beta=0)
torch.ones(()).addmv(torch.ones(3, 0), none)
torch.ones(1).addmv(torch.ones(0, 3), torch.ones(3))
torch.ones(3).addmv(torch.ones(3, 0), none, beta=2)
torch.ones(1).addmv_(torch.ones(3, 0), none)
torch.addmv(torch.ones(1), torch.ones(3, 0), none, out=torch.ones(3))
torch.ones(1).broadcast_to((2, -2))
torch.ones(1).expand((-2, 1))
torch.ones(3).broadcast_to((2, -1))
torch.ones(0, 3).expand((-2, 3))
torch.linalg.matrix_norm(torch.ones(0, 3), ord=2)
torch.linalg.matrix_norm(torch.ones(2, 3, 0), ord=2, keepdim=True)
torch.linalg.matrix_norm(torch.ones(3, 0), ord=1)
torch.linalg.matrix_norm(torch.ones(0, 3), ord=float("inf"))
torch.linalg.matrix_norm(torch.ones(3, 0), ord=-2)
torch.linalg.matrix_norm(torch.ones(0, 3, requires_grad=True), ord=2).requires_grad
torch.linalg.matrix_norm(torch.ones(0, 3, requires_grad=True), ord=1).requires_grad
torch.norm(x, "nuc", dim=1)
torch.norm(x, "nuc", dim=(0, 1))
torch.norm(x, "nuc", dim=(0, 1), dtype=torch.float64)
torch.norm(x[0], "nuc")
torch.norm(torch.ones(2, 3, 4), "nuc")
torch.norm(torch.ones(2, 3, 4), "nuc", dim=(0, -1), keepdim=True)
torch.norm(torch.ones(2, 3, 4), "fro", dim=(0, 1, 2))
torch.norm(x, "other")
as_strided_slopes(torch.ones(1, 3), (4, 3), (4, 3), (1, 2), 0)
as_strided_slopes(torch.ones(3, 1), (3, 2), (2, 2), (1, 1), 0)
as_strided_slopes(torch.ones(6), (6,), (3, 2, 4), (1, 1, 0), 0)
as_strided_slopes(torch.ones(6).as_strided((2, 2), (2, 2)), (2, 2), (5,), (1,), 0)
as_strided_slopes(torch.ones(6)[2:], (4,), (3,), (1,), 1)
"""

# What may be written where it is read, or several times over: an expanded tensor may by three ops, with a warning.
OVERLAPS = """
torch.zeros(1).expand(3).index_put_((torch.tensor([0]),), torch.tensor(1.0))
torch.zeros(1).expand(3).index_fill_(0, torch.tensor([0]), 1.0)
torch.zeros(2, 1).expand(2, 3).masked_fill_(torch.tensor([True, False, True]), 1.0)
torch.zeros(1).expand(3).masked_scatter_(torch.ones(3).bool(), torch.ones(3))
torch.zeros(1).expand(3).index_add_(0, torch.tensor([0]), torch.ones(1))
put(torch.arange(6.0), lambda y: y[0])
put(torch.arange(6.0), lambda y: y[:3])
x.masked_scatter_(x > 2, x)
x.index_put_((x > 2,), x[0, 0])
index.index_put_((index,), index.clone())
index.index_put_((index,), torch.tensor(0))
torch.cumsum(x.view(-1)[1:], 0, out=x.view(-1)[:-1])
torch.cumsum(x, 0, out=x)
"""

# Samples that torch keeps of its own ops found these.
FOUND_BY_SAMPLES = """
torch.linalg.vander(torch.tensor(2.0), N=3)
torch.linalg.vander(torch.arange(-3, 4).to(torch.int8))
torch.einsum("aij,ajk->aik", torch.ones(1, 2, 3), torch.ones(1, 3, 4))
torch.einsum("aij,jk->aik", torch.ones(1, 3, 4), torch.ones(4, 4))
torch.einsum("aij,ajk->aki", torch.ones(1, 2, 3), torch.ones(1, 3, 4))
torch.gradient(torch.ones(5).bool())
"""


def names(t: Any) -> dict[str, Any]:
    def as_strided_slopes(base: Any, expanded: Any, size: Any, stride: Any, offset: int) -> Any:
        """The gradient of as_strided of an input whose elements may share places, and that of its square."""
        x = base.double().requires_grad_()
        seen = x.expand(expanded)
        result = seen.as_strided(size, stride, offset)
        weight = t.arange(1.0, result.numel() + 1).double().reshape(result.shape)
        (first,) = t.autograd.grad((result * result * weight).sum(), seen, create_graph=True)
        return first

    return {
        "torch": t,
        "as_strided_slopes": as_strided_slopes,
        "put": lambda y, values: y.index_put_((t.tensor([0, 2, 3]),), values(y)),
        "index": t.tensor([0, 2, 1]),
        "none": t.zeros(0),
        "odd": t.ones(3).as_strided((1, 3, 1), (7, 1, 9)),
        "x": t.arange(6.0).reshape(2, 3),
    }


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
@pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors")
@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
@pytest.mark.parametrize(
    "call", [line for calls in (CALLS, OVERLAPS, FOUND_BY_SAMPLES) for line in calls.strip().split("\n")]
)
def test_equals_torch(call: str, real_torch: ModuleType) -> None:
    def run(t: Any) -> Any:
        return eval(call, names(t))

    assert_same_outcome(lambda: run(reftorch), lambda: run(real_torch), call)


def test_a_write_through_an_expanded_tensor_warns() -> None:
    for write in (
        lambda x: x.index_put_((reftorch.tensor([0]),), reftorch.tensor(1.0)),
        lambda x: x.index_fill_(0, reftorch.tensor([0]), 1.0),
        lambda x: x.masked_fill_(reftorch.ones(3) > 0, 1.0),
    ):
        with pytest.warns(UserWarning, match="on expanded tensors is deprecated"):
            assert write(reftorch.zeros(1).expand(3)).tolist() == [1.0, 1.0, 1.0]
