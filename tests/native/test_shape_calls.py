"""Calls of shape ops as one would type them: results, strides and errors are torch's.

Mirrors: test/test_shape_ops.py, test/test_view_ops.py

Each line is an expression, evaluated in both libraries with the tensors of ``names``. Where torch raises, we raise the
same type and the same first line.
"""

from types import ModuleType
from typing import Any

import pytest

from tests.native.differential import Program, assert_same_outcome

CALLS = """
v.mT
v.mH
v.H
y.H
x.H
y.mH
y.adjoint()
v.adjoint()
x.moveaxis(0, 1)
y.moveaxis((0, 1), (1, 2))
x.swapaxes(0, 5)
torch.atleast_1d(s, v)
torch.atleast_1d([s, v])
torch.atleast_2d(v)
torch.atleast_3d(s)
torch.atleast_3d(v)
torch.atleast_3d(x)
torch.atleast_3d([x, y])
torch.broadcast_tensors(v, x)
torch.broadcast_tensors(v, i)
tuple(torch.broadcast_shapes((2, 3), (3,), 1))
tuple(torch.broadcast_shapes())
torch.broadcast_shapes((2, 3), (2,))
torch.broadcast_shapes((2, -1), (2,))
x.broadcast_to((2, 2, 2))
x.repeat(1)
x.repeat(-1, 1)
x.repeat(0, 1)
x.repeat(2, 1, 1)
x.tile(2)
x.tile(2, 1, 2)
x.tile(())
x.tile(-1)
v.repeat_interleave(2)
x.repeat_interleave(2)
x.repeat_interleave(0, dim=1)
x.repeat_interleave(2, dim=1)
x.repeat_interleave(-1, dim=1)
x.repeat_interleave(i, dim=1)
x.repeat_interleave(i, dim=0)
x.repeat_interleave(i)
x.repeat_interleave(torch.tensor([2]), dim=1)
x.repeat_interleave(torch.tensor([[2]]), dim=1)
x.repeat_interleave(torch.tensor([[2, 1]]), dim=0)
x.repeat_interleave(torch.tensor(2), dim=1)
x.repeat_interleave(torch.tensor([-1, 1]), dim=0)
x.repeat_interleave(torch.tensor([1.0, 1]), dim=0)
x.repeat_interleave(i, dim=0, output_size=3)
x.repeat_interleave(i, dim=0, output_size=5)
x.repeat_interleave(2, dim=0, output_size=5)
x.repeat_interleave(2, dim=0, output_size=4)
torch.repeat_interleave(i)
torch.repeat_interleave(i.int())
torch.repeat_interleave(torch.zeros(0, dtype=torch.int64))
torch.repeat_interleave(v)
torch.repeat_interleave(torch.ones(2, 2, dtype=torch.int64))
torch.repeat_interleave(i, output_size=7)
x.repeat_interleave(2, dim=5)
s.repeat_interleave(2)
v.tensor_split(2)
v.tensor_split(5)
v.tensor_split(0)
v.tensor_split(-1)
v.tensor_split((1, 5))
v.tensor_split((2, 1))
v.tensor_split(())
v.tensor_split((-1,))
v.tensor_split(i)
v.tensor_split(torch.tensor(2))
v.tensor_split(v)
v.tensor_split(x.long())
s.tensor_split(2)
x.tensor_split(2, 3)
x.tensor_split(2, dim=1)
x.hsplit(3)
x.hsplit(2)
x.hsplit((1,))
v.hsplit(3)
v.hsplit((1, 2))
s.hsplit(1)
x.hsplit(0)
v.vsplit(1)
x.vsplit(2)
x.vsplit(3)
x.vsplit((1,))
x.dsplit(1)
y.dsplit(2)
y.dsplit(3)
y.dsplit((1, 2))
x.split(-1)
x.split(0)
x.split((1, 2), 1)
x.split((1, 1), 1)
x.split((1, -2), 1)
x.split((1, 2**62, 2**62), 1)
x.split(2**62)
s.split(1)
x.split(2, 5)
x.chunk(0)
x.chunk(2**62)[1]
s.chunk(1)
s.unbind()
x.unbind(3)
torch.unsafe_split(x, 1)
torch.unsafe_chunk(x, 2, 1)
torch.unsafe_chunk(x, 0, 1)
torch.unsafe_split_with_sizes(x, (1, 2), 1)
x.unsafe_split((1, 2), 1)
torch.hstack([])
torch.hstack([s, s])
torch.hstack([x, v])
torch.vstack([])
torch.vstack([v, x])
torch.vstack([s, s])
torch.row_stack([v, v])
torch.dstack([])
torch.dstack([s, s])
torch.dstack([v, v])
torch.dstack([x, x])
torch.column_stack([])
torch.column_stack([v, v])
torch.column_stack([s, v])
torch.column_stack([s, s])
torch.column_stack([v, x])
torch.concat([x, x], dim=1)
torch.concatenate([x, x], axis=1)
torch.hstack([v, v], out=torch.zeros(0))
torch.vstack([v, i[:0].reshape(0, 3)], out=torch.zeros(0, dtype=torch.float64))
torch.concat([v, v], out=torch.zeros(0, dtype=torch.float64))
torch.flip(x, [0, 0])
torch.flip(x, [3])
torch.fliplr(v)
torch.fliplr(x)
torch.flipud(s)
torch.flipud(x)
x.roll(1)
x.roll(-7)
x.roll((1, 2), (0, 1))
x.roll(-4, 1)
x.roll(2**63 - 1, 1)
x.roll(-(2**62), 1)
x.roll(1, (0, 1))
x.roll((1, 1))
x.t().roll(1, 0)
x.roll(())
x.roll((1, 1), (0, 0))
s.roll(1)
s.roll(1, 0)
x.roll(1, 3)
torch.zeros(0, 3).roll(1)
torch.zeros(0, 3).roll(1, 0)
x.rot90()
x.rot90(2)
x.rot90(3)
x.rot90(4)
x.t().rot90(0)
x.rot90(-1, (1, 0))
y.rot90(1, (0, -1))
x.rot90(1, (0,))
x.rot90(1, (0, 1, 1))
x.rot90(1, (0, 0))
x.rot90(1, (0, -2))
x.rot90(1, (0, 4))
v.rot90()
v.tril()
x.tril(2**62)
x.tril(-(2**63))
x.triu(2**63 - 1)
x.t().tril()
y.tril(1)
x.bool().tril()
v.diag(1)
x.diag(5)
x.diag(-5)
y.diag()
s.diag()
torch.diag(x, out=torch.zeros(0))
x.diagflat()
s.diagflat()
x.t().diagflat(-1)
v.diag_embed(5)
v.diag_embed(0, 0, 0)
v.diag_embed(0, 0, 3)
s.diag_embed()
x.diag_embed(1, 0, 2)
y.diagonal(0, 0, 2)
y.diagonal(10)
y.diagonal(-(2**63))
v.diagonal()
y.diagonal(0, 1, 1)
torch.meshgrid(v, v, indexing="ij")
torch.meshgrid([v, v], indexing="xy")
torch.meshgrid(v, v + 1, s, indexing="xy")
torch.meshgrid(s, v, indexing="ij")
torch.meshgrid(v, i, indexing="xy")
torch.meshgrid(v, v, indexing="zz")
torch.meshgrid(indexing="ij")
x.unfold(1, 2, 1)
x.unfold(0, 1, 5)
x.unfold(1, 1, 2**62)
x.unfold(1, 4, 1)
x.unfold(1, 2, 0)
x.unfold(1, -1, 1)
x.unfold(1, 0, 1)
s.unfold(0, 1, 1)
s.unfold(0, 2, 1)
x.unfold(2, 1, 1)
x.as_strided((2, 2), (1, 1), 10)
x.as_strided((2, 2), (1,))
x.as_strided((2, 2), (-1, 1))
x.as_strided((2, -2), (1, 1))
x.as_strided((2, 2), (1, 1), -1)
x.as_strided((2, 2), (2**62, 4))
x.view(torch.int32)
x.view(dtype=torch.int16)
x.view(torch.uint8)
x.view(torch.bool)
x.view(torch.float64)
x[:, :2].contiguous().view(torch.float64)
x[:, :2].view(torch.float64)
x.t().view(torch.float64)
x.t().view(torch.int16)
v[1:].view(torch.float64)
s.view(torch.int16)
s.view(torch.int32)
s.ravel()
x.t().ravel()
torch.cartesian_prod(v, v + 1)
torch.cartesian_prod(v, v, v[:1])
torch.cartesian_prod(v)
torch.cartesian_prod(x)
torch.cartesian_prod(v, i)
torch.cartesian_prod()
torch.combinations(v)
torch.combinations(v, 3)
torch.combinations(v, 4)
torch.combinations(v, 4, True)
torch.combinations(v, 0)
torch.combinations(v, -1)
torch.combinations(v, with_replacement=True)
torch.combinations(x)
torch.combinations(torch.zeros(0), 2, True)
torch.block_diag(x, v, s)
torch.block_diag(x, i)
torch.block_diag(x, torch.zeros(0), torch.zeros(2, 0))
torch.block_diag(y)
torch.block_diag()
x.squeeze((0, 0))
x.squeeze(())
x.sum_to_size(3)
x.sum_to_size(2, 1)
x.sum_to_size((1,))
x.sum_to_size(2)
x.sum_to_size(2, 3)
x.is_same_size(v)
torch.is_same_size(x, x.t().t())
x.is_set_to(x)
x.is_set_to(x[:])
x.is_set_to(x[:1])
x.clone().resize_(2, 2)
x.clone().resize_(2, 2)[0]
x.clone().resize_as_(v)
torch.resize_as_(x.clone(), v)
x.clone().resize_((1, 2, 3, 1), memory_format=torch.channels_last)
x.clone().resize_((2, 3), memory_format=torch.channels_last)
x.clone().resize_(2, 2, memory_format=torch.preserve_format)
x.clone().requires_grad_().resize_as_(v)
torch.zeros(0).set_(x)
torch.zeros(0).set_(x, 1, (2,), (2,))
torch.zeros(0).set_(x, 1, (2,))
torch.zeros(0).set_(i)
torch.zeros(3).set_()
x.dim_order()
y.permute(2, 0, 1).dim_order()
torch.zeros(1, 1, 2, 2).dim_order()
torch.zeros(2, 3, 4, 4).to(memory_format=torch.channels_last).dim_order()
torch.zeros(1, 1, 2, 2).dim_order(ambiguity_check=True)
torch.zeros(3, 2, 2, 2).dim_order(ambiguity_check=True)
torch.tril_indices(3, 3)
torch.tril_indices(3, 4, -1)
torch.tril_indices(3, 4, 2**62)
torch.triu_indices(3, 2, 1, dtype=torch.int32)
torch.triu_indices(0, 3)
torch.triu_indices(3, 0)
torch.triu_indices(4, 3, -2)
torch.triu_indices(2, 5, 2)
torch.tril_indices(5, 2, -2)
torch.tril_indices(2, 5, -2)
torch.tril_indices(2, 5, 3)
torch.triu_indices(2, 5, -(2**62))
torch.tril_indices(2**40, 3, 2 - 2**40)
torch.tril_indices(-1, 2)
torch.tril_indices(3, 3, dtype=torch.float32)
torch.trace(x)
torch.trace(x.t().int())
torch.trace(x.bool())
torch.trace(y)
x.view(-1, -1)
x.view(-2)
x.view(5)
x.view(-1, 4)
torch.zeros(0).view(-1, 0)
torch.zeros(0).view(-1, 2)
x.view(2**62, 4)
x.reshape(2**62, 4)
x.reshape(-3, 2)
x.expand(-2, 3)
x.expand(2**40, 2**40, 2, 3)
x.expand(-1, 2, 3)
x.unflatten(1, (3, -1))
x.unflatten(1, (-1, -1))
x.unflatten(1, (2, 2))
x.unflatten(1, ())
x.unflatten(1, (-1, 0))
x.unflatten(3, (1,))
x.unflatten(1, (-2,))
x.flatten(1, 0)
x.flatten(0, 5)
x.movedim((0, 0), (0, 1))
x.movedim((0, 1), (0,))
x.movedim(0, 5)
x.permute(0)
x.permute(0, 0)
x.permute(0, 3)
torch.empty(2**40, 2**40)
torch.empty((2**31, 2**31, 4))
x.narrow(0, 1, 5)
x.narrow(0, 1, 2**63 - 1)
x.narrow(0, torch.tensor(1), 1)
x.narrow(0, s, 1)
x.narrow(0, 3, 0)
x.select(0, 5)
x[:: 2**40]
x[:, :: 2**40]
"""


def in_library(expression: str) -> Program:
    def program(torch: Any) -> Any:
        names = {
            "torch": torch,
            "s": torch.tensor(1.0),
            "v": torch.arange(3.0),
            "x": torch.arange(6.0).view(2, 3),
            "y": torch.arange(24.0).view(2, 3, 4),
            "i": torch.tensor([1, 2]),
        }
        return eval(expression, names)

    return program


@pytest.mark.parametrize("expression", CALLS.strip().split("\n"))
def test_call(expression: str, real_torch: ModuleType) -> None:
    assert_same_outcome(in_library(expression), real_torch)


def test_deprecated_transposes_warn() -> None:
    import reftorch

    with pytest.warns(UserWarning, match=r"The use of `x.T` on tensors of dimension other than 2"):
        assert reftorch.zeros(2, 3, 4).T.shape == (4, 3, 2)
    with pytest.warns(UserWarning, match=r"torch.meshgrid: in an upcoming release"):
        reftorch.meshgrid(reftorch.zeros(2), reftorch.zeros(3))


def test_view_of_another_dtype_shares_memory_and_version() -> None:
    import reftorch

    x = reftorch.zeros(3)
    bits = x.view(reftorch.int32)
    bits[1] = 0x3F800000
    assert x.tolist() == [0.0, 1.0, 0.0]
    assert x._version == bits._version == 1


@pytest.mark.parametrize("split", ["chunk", "unsafe_chunk", "tensor_split"])
def test_more_pieces_of_nothing_than_memory_holds_are_refused(
    split: str, real_torch_or_none: ModuleType | None
) -> None:
    for library in (reftorch, real_torch_or_none):
        if library is not None:
            with pytest.raises(RuntimeError):
                getattr(library, split)(library.zeros(0), 2**62)


def test_a_triangle_larger_than_memory_is_refused() -> None:
    import reftorch

    for function in (reftorch.tril_indices, reftorch.triu_indices):
        with pytest.raises(RuntimeError, match="overflowed"):
            function(2**40, 2**40)


def test_set_takes_the_memory_of_another_tensor() -> None:
    import reftorch

    x, y = reftorch.arange(6.0), reftorch.zeros(0)
    y.set_(x, 2, (2, 2), (1, 1))
    x[3] = 10
    assert y.tolist() == [[2.0, 10.0], [10.0, 4.0]]
    assert y.set_().numel() == 0
    assert x[3] == 10
