"""``parallelize_module``: one style, or one for each submodule by its name.

Mirrors: torch/distributed/tensor/parallel/api.py
Leaves out: meshes as contexts.
"""

from __future__ import annotations

import copy
from fnmatch import fnmatch
from typing import Any

from reftorch._warnings import warn
from reftorch.distributed.device_mesh import DeviceMesh
from reftorch.distributed.tensor._api import _mesh_or_all
from reftorch.distributed.tensor.parallel.style import ParallelStyle

__all__ = ["parallelize_module"]


def parallelize_module(
    module: Any,
    device_mesh: DeviceMesh | None = None,
    parallelize_plan: ParallelStyle | dict[str, ParallelStyle] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> Any:
    """Divide layers of a module among the ranks. All ranks compute with the same batch.

    Args:
        module: is changed, and returned.
        device_mesh: the ranks, in one dimension; all ranks if None.
        parallelize_plan: a style for the module itself, or a dict from the names of submodules to styles. A name may
            have wildcards: ``"layers.*.up"``.
        src_data_rank: the rank in the mesh whose parameters count; with None each rank divides its own.

    Returns:
        The module.

    Example:
        >>> from reftorch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     net = torch.nn.Sequential(torch.nn.Linear(2, 6), torch.nn.ReLU(), torch.nn.Linear(6, 3))
        ...     parallelize_module(net, None, {"0": ColwiseParallel(), "2": RowwiseParallel()})
        ...     return tuple(net[0].weight.to_local().shape), tuple(net(torch.ones(1, 2)).shape)
        >>> program()[1]
        ((3, 2), (1, 3))

    Mirrors torch/distributed/tensor/parallel/api.py, ``parallelize_module``.
    """
    mesh = _mesh_or_all(device_mesh)
    if parallelize_plan is None:
        warn("No parallelize_plan is provided and auto-parallel is not supported at the moment, so this "
             "parallelize_module call will do nothing.")  # fmt: skip
        return module
    if isinstance(parallelize_plan, ParallelStyle):
        style = copy.copy(parallelize_plan)
        style.src_data_rank = src_data_rank
        return style._apply(module, mesh)
    if not isinstance(parallelize_plan, dict):
        raise TypeError(
            "Expect Union[ParallelStyle, Dict[str, ParallelStyle]] for parallelize_plan, "
            f"{type(parallelize_plan)} found!"
        )
    for pattern, style in parallelize_plan.items():
        steps = pattern.split(".")
        found = [(name, each) for name, each in module.named_modules() if name and _fits(name.split("."), steps)]
        if pattern == "":
            found = [("", module)]
        if not found:
            warn(f"Parallelize plan key '{pattern}' could not be resolved: no submodule matching this name")
        for _, submodule in found:
            parallelize_module(submodule, mesh, style, src_data_rank=src_data_rank)
    return module


def _fits(names: list[str], patterns: list[str]) -> bool:
    """Return whether a name fits a pattern, step by step: ``*`` stands for one step, not for several."""
    return len(names) == len(patterns) and all(map(fnmatch, names, patterns))
