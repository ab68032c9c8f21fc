"""Ops on tensors in pieces: each placement of the operands gives what the whole tensors give.

Mirrors: test/distributed/tensor/test_matrix_ops.py, test/distributed/tensor/test_pointwise_ops.py
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

import reftorch as torch
from reftorch.distributed.device_mesh import init_device_mesh
from reftorch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from tests.distributed.ranks import world

F = torch.nn.functional
WAYS: dict[int, list[Any]] = {1: [Shard(0), Replicate()], 2: [Shard(0), Shard(1), Replicate()]}
OPS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "linear": (F.linear, [(2, 5), (4, 5), (4,)]),
    "linear of three dimensions": (lambda x, w, b: F.linear(x.reshape(2, 3, 5), w, b), [(6, 5), (4, 5), (4,)]),
    "mm": (torch.mm, [(3, 5), (5, 4)]),
    "mul": (lambda x, y: (x * y).tanh(), [(4, 5), (4, 5)]),
    "broadcast": (lambda x, y: x * y + y, [(4, 5), (5,)]),
    "broadcast of one": (lambda x, y: (x * 2) * y, [(1,), (4, 1)]),
    "sum": (lambda x: x.sum(0), [(4, 5)]),
    "sums": (lambda x: x.t().sum([1], keepdim=True) * 2, [(4, 5)]),
    "norm": (lambda x: torch.linalg.vector_norm(x.detach(), 3) * x, [(4, 5)]),
}


def ones(name: str) -> Any:
    """Return placements that a linear of three dimensions can compute: its view keeps a dimension that is cut."""
    shapes = OPS[name][1]
    every = product(*(WAYS[len(shape)] for shape in shapes))
    return [ways for ways in every if name != "linear of three dimensions" or ways[0] != Shard(0)]


@pytest.mark.parametrize("name", OPS)
def test_all_placements_give_one_result(name: str) -> None:
    op, shapes = OPS[name]
    whole = [torch.arange(torch.Size(s).numel()).double().add(n).sin().reshape(s) for n, s in enumerate(shapes)]
    leaves = [each.clone().requires_grad_() for each in whole]
    expected = op(*leaves)
    weights = torch.arange(expected.numel()).double().cos().reshape(expected.shape)
    (expected * weights).sum().backward()

    def program() -> None:
        mesh = init_device_mesh("cpu", (3,))
        for ways in ones(name):
            inputs = [distribute_tensor(x, mesh, [p]).requires_grad_() for x, p in zip(whole, ways, strict=True)]
            result = op(*inputs)
            assert isinstance(result, DTensor) and result.shape == expected.shape
            full = result.full_tensor()
            (full * weights).sum().backward()
            assert torch.allclose(full, expected), ways
            for x, leaf in zip(inputs, leaves, strict=True):
                assert torch.allclose(x.grad.full_tensor(), leaf.grad), ways

    world(torch, 3, program)


def test_products_travel_only_where_they_must() -> None:
    """The placements of the Note: no rank sends anything in a product of these."""

    def program() -> list[str]:
        mesh = init_device_mesh("cpu", (2,))
        x, w = torch.ones(4, 6), torch.ones(6, 2)
        pairs = [(Shard(0), Replicate()), (Replicate(), Shard(1)), (Shard(1), Shard(0))]
        return [str(torch.mm(distribute_tensor(x, mesh, [a]), distribute_tensor(w, mesh, [b])).placements[0])
                for a, b in pairs]  # fmt: skip

    assert world(torch, 2, program) == [["S(0)", "S(1)", "P(sum)"]] * 2


def test_what_cannot_be_computed_is_named() -> None:
    def program() -> None:
        mesh = init_device_mesh("cpu", (2,))
        x = distribute_tensor(torch.ones(4, 6), mesh, [Shard(0)])
        with pytest.raises(RuntimeError, match=r"got mixed torch.Tensor and DTensor.* Hint: DTensor.from_local"):
            x + torch.ones(4, 6)
        with pytest.raises(NotImplementedError, match=r"aten.sort.*no rule for tensors in pieces.*full_tensor\(\)"):
            x.sort()
        with pytest.raises(NotImplementedError, match=r"does not keep dimension 0 of \(4, 6\)"):
            x.view(3, 8)
        with pytest.raises(NotImplementedError, match="a sum over the ranks cannot be changed in place"):
            DTensor.from_local(torch.ones(2), mesh, [Partial()]).mul_(2)
        one = distribute_tensor(torch.ones(1), mesh, [Shard(0)])
        one.mul_(distribute_tensor(torch.tensor(3.0), mesh))
        assert one.full_tensor().item() == 3.0
        whole = x.redistribute(placements=[Replicate()])
        values, places = whole.sort()
        assert values.placements == (Replicate(),) and isinstance(places, DTensor)
        assert (x * 2).sum().item() == 48.0 and not x.requires_grad
        row = distribute_tensor(torch.ones(2), init_device_mesh("cpu", (2,), mesh_dim_names=("other",)), None)
        with pytest.raises(RuntimeError, match="the tensors lie on different meshes"):
            whole[0, :2] + row

    world(torch, 2, program)


def test_an_embedding_between_its_columns() -> None:
    table, indices = torch.arange(15.0).reshape(5, 3).requires_grad_(), torch.tensor([[0, 2], [4, 2]])
    expected = F.embedding(indices, table)
    expected.square().sum().backward()

    def program() -> None:
        mesh = init_device_mesh("cpu", (2,))
        for way in (Shard(1), Replicate()):
            w = distribute_tensor(table.detach(), mesh, [way]).requires_grad_()
            result = F.embedding(DTensor.from_local(indices, mesh), w)
            result.full_tensor().square().sum().backward()
            assert torch.equal(result.full_tensor(), expected) and torch.equal(w.grad.full_tensor(), table.grad)
        with pytest.raises(NotImplementedError, match=r"a table of Shard\(dim=0\)"):
            F.embedding(DTensor.from_local(indices, mesh), distribute_tensor(table.detach(), mesh, [Shard(0)]))

    world(torch, 2, program)
