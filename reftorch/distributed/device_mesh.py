"""A mesh: the ranks in a line, or in rows and columns, with a group for each line of ranks.

Mirrors: torch/distributed/device_mesh.py
Leaves out: flattened and joined meshes, a backend for each dimension, meshes as contexts.

A training that divides its data in one way and its model in another needs two kinds of groups: of 4 ranks in 2 rows and
2 columns, the ranks of a row may divide the layers, and the ranks of a column the batch. A mesh makes all these groups,
and names the dimensions.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C, _VF, _places
from reftorch._tensor import Tensor
from reftorch.distributed import distributed_c10d as c10d

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """Ranks in a line, or in rows and columns; see :func:`init_device_mesh`. All ranks of the job make the mesh.

    Args:
        device_type: where the tensors of the mesh are: ``"cpu"`` or ``"cuda"``.
        mesh: the global ranks, as a tensor or nested lists: one dimension of it is one dimension of the mesh.
        mesh_dim_names: a name for each dimension.
        backend_override: only None.

    Attributes:
        device_type: see the argument.
        mesh: the global ranks, as a tensor.
        mesh_dim_names: see the argument.

    Raises:
        RuntimeError: the mesh has more ranks than the job.
        ValueError: a rank stands in it twice, or the names do not fit.
        NotImplementedError: ``backend_override`` is given.

    Example:
        >>> from reftorch.distributed.device_mesh import DeviceMesh
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> spawn_threads_and_init_comms(lambda: DeviceMesh("cpu", [[0, 1], [2, 3]]).get_coordinate(), world_size=4)()
        [(0, 0), (0, 1), (1, 0), (1, 1)]

    Mirrors torch/distributed/device_mesh.py, ``DeviceMesh``.
    """

    def __init__(
        self,
        device_type: str,
        mesh: Any = None,
        *,
        mesh_dim_names: tuple[str, ...] | None = None,
        backend_override: Any = None,
        _init_backend: bool = True,
    ) -> None:
        if backend_override is not None:
            raise NotImplementedError("DeviceMesh: backend_override must be None; all groups have the default backend")
        if mesh is None:
            raise TypeError("The mesh argument is required except for PRIVATE USAGE ONLY!")
        ranks = mesh.detach().cpu() if isinstance(mesh, Tensor) else _C.tensor(mesh)
        self.device_type = device_type
        self.mesh: Any = ranks.to(_C.int32).contiguous()
        self._stride = tuple(self.mesh.stride())  # in the mesh that this one is a part of
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        flat = self.mesh.flatten().tolist()
        if len(set(flat)) != len(flat):
            raise ValueError(f"DeviceMesh: a rank stands in the mesh twice: {self.mesh.tolist()}")
        if self.mesh_dim_names is not None and len(set(self.mesh_dim_names)) != self.ndim:
            raise ValueError(f"DeviceMesh: {self.ndim} dimensions need as many names, not {self.mesh_dim_names}")
        if len(flat) > c10d.get_world_size():
            raise RuntimeError(
                f"Mesh should not be bigger than default world size {c10d.get_world_size()}, but found {len(flat)} "
                "ranks!"
            )
        self._rank = c10d.get_rank()
        self._groups: list[Any] = self._make_groups() if _init_backend else []

    def _make_groups(self) -> list[Any]:
        """Return this rank's group along each dimension. All ranks make all groups, in the same order."""
        groups: list[Any] = []
        for dim in range(self.ndim):
            mine = None
            for line in self.mesh.movedim(dim, -1).reshape(-1, self.mesh.shape[dim]).tolist():
                whole = line == list(range(c10d.get_world_size()))
                group = c10d._get_default_group() if whole else c10d.new_group(line, sort_ranks=False)
                mine = group if self._rank in line else mine
            groups.append(mine)
        return groups if self.get_coordinate() is not None else []

    @staticmethod
    def from_group(
        group: Any, device_type: str, mesh: Any = None, *, mesh_dim_names: tuple[str, ...] | None = None
    ) -> DeviceMesh:
        """Return the mesh of one dimension whose ranks are those of a group. ``mesh`` and a list are left out here.

        Mirrors torch/distributed/device_mesh.py, ``DeviceMesh.from_group``.
        """
        if isinstance(group, list) or mesh is not None:
            raise NotImplementedError("DeviceMesh.from_group: only one group, whose ranks are the mesh")
        ranks = c10d.get_process_group_ranks(group)
        made = DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names, _init_backend=False)
        made._groups = [group]
        return made

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.mesh.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of ranks along each dimension."""
        return tuple(self.mesh.shape)

    def size(self, mesh_dim: int | None = None) -> int:
        """Return the number of ranks along a dimension, or of all."""
        return self.mesh.numel() if mesh_dim is None else self.mesh.shape[mesh_dim]

    def get_rank(self) -> int:
        """Return the global rank of this process."""
        return self._rank

    def get_coordinate(self) -> tuple[int, ...] | None:
        """Return the place of this rank in each dimension, or None if the mesh lacks the rank."""
        places = (self.mesh == self._rank).nonzero().tolist()
        return tuple(places[0]) if places else None

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """Return the place of this rank along a dimension. A mesh of one dimension needs no argument."""
        coordinate = self.get_coordinate()
        if coordinate is None:
            raise RuntimeError(f"rank {self._rank} is not in the mesh {self.mesh.tolist()}")
        return coordinate[self._number_of(mesh_dim)]

    def get_group(self, mesh_dim: int | str | None = None) -> Any:
        """Return the group of this rank along a dimension. A mesh of one dimension needs no argument."""
        number = self._number_of(mesh_dim)
        if not self._groups:
            raise RuntimeError(f"rank {self._rank} is not in the mesh {self.mesh.tolist()}")
        return self._groups[number]

    def get_all_groups(self) -> list[Any]:
        """Return the group of this rank along each dimension."""
        return [self.get_group(dim) for dim in range(self.ndim)]

    def _number_of(self, mesh_dim: int | str | None) -> int:
        if mesh_dim is None:
            if self.ndim > 1:
                raise RuntimeError(
                    f"Found the DeviceMesh have {self.ndim} dimensions",
                    "Optional kwarg `mesh_dim` needs to be specified when device_mesh.ndim > 1.",
                )
            return 0
        if isinstance(mesh_dim, int):
            return mesh_dim
        if self.mesh_dim_names is None or mesh_dim not in self.mesh_dim_names:
            raise KeyError(
                f"Mesh dimension '{mesh_dim}' does not exist.",
                f"Available mesh dimensions are: mesh_dim_names={self.mesh_dim_names}",
            )
        return self.mesh_dim_names.index(mesh_dim)

    def __getitem__(self, mesh_dim_names: str | tuple[str, ...]) -> DeviceMesh:
        """Return the mesh of this rank's line along a named dimension, or along several in their order.

        Raises:
            RuntimeError: the dimensions have no names.
            KeyError: there is no such name, or the names are in another order.
        """
        if self.mesh_dim_names is None:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        known = [name for name in self.mesh_dim_names if name in names]
        if list(names) != known:
            raise KeyError(
                f"Invalid mesh_dim_names {names} specified. Valid mesh_dim_names are {self.mesh_dim_names}, in this "
                "order."
            )
        place = self.get_coordinate() or (0,) * self.ndim
        index = tuple(slice(None) if n in names else i for n, i in zip(self.mesh_dim_names, place, strict=True))
        part = self.mesh[index]
        mesh = DeviceMesh(self.device_type, part, mesh_dim_names=names, _init_backend=False)
        mesh._groups = [self.get_group(name) for name in names] if self._groups else []
        mesh._stride = tuple(part.stride())
        return mesh

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeviceMesh):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.device_type, self.shape, tuple(self.mesh.flatten().tolist()), self.mesh_dim_names

    def __repr__(self) -> str:
        sizes = (
            str(self.shape)
            if self.mesh_dim_names is None
            else f"({', '.join(f'{n}={s}' for n, s in zip(self.mesh_dim_names, self.shape, strict=True))})"
        )
        return f"DeviceMesh({sizes}, '{self.device_type}', stride={self._stride})"


def init_device_mesh(
    device_type: str,
    mesh_shape: tuple[int, ...],
    *,
    mesh_dim_names: tuple[str, ...] | None = None,
    backend_override: Any = None,
) -> DeviceMesh:
    """Return a mesh of the ranks 0, 1, 2 and so on, row by row; make the default group if there is none.

    Args:
        device_type: where the tensors of the mesh are: ``"cpu"`` or ``"cuda"``.
        mesh_shape: the number of ranks along each dimension.
        mesh_dim_names: a name for each dimension.
        backend_override: only None.

    Returns:
        The mesh.

    Raises:
        RuntimeError: the names do not fit; see also :class:`DeviceMesh`.

    Example:
        >>> from reftorch.distributed.device_mesh import init_device_mesh
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=4)
        ... def program():
        ...     mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "model"))
        ...     return mesh["data"].mesh.tolist(), mesh["model"].mesh.tolist()
        >>> program()[1]
        ([1, 3], [0, 1])

    Mirrors torch/distributed/device_mesh.py, ``init_device_mesh``.
    """
    if mesh_dim_names is not None and len(set(mesh_dim_names)) != len(mesh_dim_names):
        raise RuntimeError("Each mesh_dim_name must be unique.", f"Found repeated mesh_dim_name in {mesh_dim_names}")
    if mesh_dim_names is not None and len(mesh_dim_names) != len(mesh_shape):
        raise RuntimeError(
            "mesh_shape and mesh_dim_names should have same length!",
            f"Found len(mesh_dim_names): {len(mesh_dim_names)} and len(mesh_shape):{len(mesh_shape)}.",
        )
    if not c10d.is_initialized():
        c10d.init_process_group()
    size = 1
    for each in mesh_shape:
        size *= each
    mesh = _VF.arange(size, dtype=_C.int32).reshape(mesh_shape)
    return DeviceMesh(device_type, mesh, mesh_dim_names=mesh_dim_names, backend_override=backend_override)


_places.adopt(__name__, __all__, globals())
