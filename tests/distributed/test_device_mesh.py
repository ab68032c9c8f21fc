"""Meshes: groups along each dimension, coordinates, names, and what torch says of the same mesh.

Mirrors: test/distributed/test_device_mesh.py
"""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import reftorch as torch
from reftorch.distributed.device_mesh import DeviceMesh, init_device_mesh
from tests.distributed.ranks import world


def described(lib: Any) -> Any:
    """Return what each of four ranks sees of three meshes."""

    def program() -> Any:
        module, dist = importlib.import_module(f"{lib.__name__}.distributed.device_mesh"), lib.distributed
        grid = module.init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "model"))
        line = module.init_device_mesh("cpu", (4,))
        seen = []
        for mesh in (grid, line, grid["data"], grid["model"], grid["data", "model"]):
            seen.append([repr(mesh), mesh.mesh.tolist(), mesh.ndim, tuple(mesh.shape), mesh.size()])
            seen.append([list(mesh.get_coordinate()), mesh.get_rank(), mesh.device_type])
        for group in (*grid.get_all_groups(), line.get_group(), grid["model"].get_group()):
            number = lib.tensor([10.0 ** dist.get_rank()])
            dist.all_reduce(number, group=group)
            seen.append([number.item()])
        seen.append([grid.get_local_rank("model"), grid.get_local_rank(0), line.get_local_rank(), grid.size(1)])
        seen.append([grid["data"] == grid["data"], grid == line])
        for mistake in (lambda: grid["model", "data"], lambda: grid["x"], lambda: line["x"], grid.get_group):
            try:
                mistake()
            except (KeyError, RuntimeError) as error:
                seen.append([type(error).__name__])
        return seen

    return world(lib, 4, program)


def test_a_mesh_is_as_in_torch(real_torch: Any, noted: Any) -> None:
    assert described(torch) == noted(described(real_torch))


def test_mistakes_are_named() -> None:
    def program() -> None:
        with pytest.raises(RuntimeError, match="should not be bigger than default world size 2, but found 3 ranks"):
            DeviceMesh("cpu", [0, 1, 2])
        with pytest.raises(ValueError, match="a rank stands in the mesh twice"):
            DeviceMesh("cpu", [0, 0])
        with pytest.raises(RuntimeError, match="mesh_shape and mesh_dim_names should have same length"):
            init_device_mesh("cpu", (2,), mesh_dim_names=("a", "b"))
        alone = DeviceMesh("cpu", [1])  # both ranks make it
        assert (alone.get_coordinate() is None) == (torch.distributed.get_rank() == 0)
        if torch.distributed.get_rank() == 0:
            with pytest.raises(RuntimeError, match=r"rank 0 is not in the mesh \[1\]"):
                alone.get_group()
        group = torch.distributed.group.WORLD
        assert DeviceMesh.from_group(group, "cpu").get_group() is group

    world(torch, 2, program)
