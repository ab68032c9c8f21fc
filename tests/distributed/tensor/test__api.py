"""Tensors in pieces: their parts, their ways from placement to placement, and their gradients, as in torch.

Mirrors: test/distributed/tensor/test_dtensor.py, test/distributed/tensor/test_redistribute.py
"""

from __future__ import annotations

import copy
import importlib
import pickle
from typing import Any

import pytest

import reftorch as torch
from reftorch.distributed.device_mesh import init_device_mesh
from reftorch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard, distribute_tensor
from reftorch.distributed.tensor._utils import compute_local_shape_and_global_offset
from tests.distributed.ranks import world

SIZE = 3
NAMES = ("S(0)", "S(1)", "R", "P(sum)")


def numbers(lib: Any, *shape: int) -> Any:
    return lib.arange(torch.Size(shape).numel(), dtype=lib.float64).add(0.5).reshape(shape)


def parts(lib: Any) -> list[Any]:
    """Return, for each rank, what it has of a tensor after each way that leads from one placement to another."""

    def program() -> Any:
        place = importlib.import_module(f"{lib.__name__}.distributed.tensor")
        mesh = importlib.import_module(f"{lib.__name__}.distributed.device_mesh").init_device_mesh("cpu", (SIZE,))
        every = dict(zip(NAMES, (place.Shard(0), place.Shard(-1), place.Replicate(), place.Partial()), strict=True))
        whole, seen = numbers(lib, 4, 7), []  # 4 rows on 3 ranks: 2, 2, 0
        for source in NAMES[:3]:
            x = place.distribute_tensor(whole, mesh, [every[source]])
            seen.append([source, repr(x.placements), str(x.placements[0]), list(x.shape), x.to_local().tolist()])
            for target in NAMES[:3]:
                seen.append([source, target, x.redistribute(placements=[every[target]]).to_local().tolist()])
            seen.append([x.full_tensor().tolist(), x.requires_grad, x.is_leaf])
        summand = place.DTensor.from_local(whole * (lib.distributed.get_rank() + 1), mesh, [every["P(sum)"]])
        for target in NAMES[:3]:
            seen.append([target, summand.redistribute(placements=[every[target]]).to_local().tolist()])
        even = place.distribute_tensor(numbers(lib, 2, 3), mesh, [place.Shard(1)])
        seen.append([repr(even), repr(place.DTensor.from_local(even.to_local(), mesh, [place.Shard(1)]))])
        return seen

    return world(lib, SIZE, program)


def test_ways_between_placements_are_as_in_torch(real_torch: Any, noted: Any) -> None:
    assert parts(torch) == noted(parts(real_torch))


def in_mesh(program: Any, size: int = SIZE) -> list[Any]:
    return world(torch, size, lambda: program(init_device_mesh("cpu", (size,))))


@pytest.mark.parametrize("source", [Shard(0), Shard(1), Replicate()], ids=str)
@pytest.mark.parametrize("target", [Shard(0), Shard(1), Replicate()], ids=str)
def test_gradients_take_the_way_back(source: Placement, target: Placement) -> None:
    """The loss is a function of the local parts, so the gradient of the whole is known in closed form."""

    def program(mesh: Any) -> None:
        whole = numbers(torch, 4, 7)
        x = distribute_tensor(whole, mesh, [source]).requires_grad_()
        moved = x.redistribute(placements=[target])
        moved.to_local().square().sum().backward()
        assert isinstance(x.grad, DTensor) and x.grad.placements == (source,)
        assert torch.allclose(x.grad.full_tensor(), 2 * whole)

    in_mesh(program)


def test_a_sum_gives_its_gradient_to_each_summand() -> None:
    def program(mesh: Any) -> tuple[float, float]:
        local = torch.tensor([1.0 + torch.distributed.get_rank()], requires_grad=True)
        total = DTensor.from_local(local, mesh, [Partial()]).full_tensor()
        total.square().sum().backward()
        return total.item(), local.grad.item()

    assert in_mesh(program) == [(6.0, 12.0)] * SIZE


def test_parts_may_differ_in_size() -> None:
    def program(mesh: Any) -> None:
        shape, offset = compute_local_shape_and_global_offset((4, 7), mesh, [Shard(1)])
        local = numbers(torch, 4, 7)[:, offset[1] : offset[1] + shape[1]].clone().requires_grad_()
        x = DTensor.from_local(local, mesh, [Shard(1)], shape=(4, 7))
        assert torch.equal(x.full_tensor(), numbers(torch, 4, 7))
        (x.full_tensor() * torch.arange(7)).sum().backward()
        assert torch.equal(local.grad, torch.arange(7.0).double()[offset[1] : offset[1] + shape[1]].expand(shape))

    in_mesh(program)


def test_the_numbers_of_one_rank_count() -> None:
    def program(mesh: Any) -> list[float]:
        mine = torch.full((3,), float(torch.distributed.get_rank()))
        own = distribute_tensor(mine, mesh, [Shard(0)], src_data_rank=None)
        second = distribute_tensor(mine, mesh, [Shard(0)], src_data_rank=1)
        return [own.to_local().item(), second.to_local().item()]

    assert in_mesh(program) == [[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]


def test_copies_and_mistakes() -> None:
    def program(mesh: Any) -> None:
        x = distribute_tensor(numbers(torch, 4, 7), mesh, [Shard(0)])
        again = copy.deepcopy(x)
        again.add_(1)
        assert torch.equal(again.full_tensor(), x.full_tensor() + 1)
        with pytest.raises(NotImplementedError, match="cannot be pickled: its mesh consists of connections"):
            pickle.dumps(x)
        with pytest.raises(NotImplementedError, match=r"no way leads from Shard\(dim=0\) to Partial\(sum\)"):
            x.redistribute(placements=[Partial()])
        with pytest.raises(RuntimeError, match="placements is needed for redistribute!"):
            x.redistribute()
        with pytest.raises(ValueError, match="must be Shard or Replicate, not Partial"):
            distribute_tensor(torch.ones(2), mesh, [Partial()])
        with pytest.raises(IndexError, match="a tensor of 1 dimensions has no such dimension"):
            distribute_tensor(torch.ones(2), mesh, [Shard(1)])
        with pytest.raises(ValueError, match=r"must have the same length as `device_mesh.ndim`"):
            distribute_tensor(torch.ones(2), mesh, [Shard(0), Shard(0)])
        with pytest.raises(NotImplementedError, match="run_check, stride and grad_placements must be left out"):
            DTensor.from_local(torch.ones(2), mesh, run_check=True)

    in_mesh(program)

    def on_a_grid() -> None:
        grid = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))
        with pytest.raises(NotImplementedError, match=r"on a mesh of one dimension here.* Hint: mesh\[name\]"):
            distribute_tensor(torch.ones(2), grid, [Shard(0), Shard(0)])
        column = distribute_tensor(torch.arange(4.0), grid["a"], [Shard(0)])
        assert torch.equal(column.full_tensor(), torch.arange(4.0)) and column.to_local().numel() == 2

    world(torch, 4, on_a_grid)
