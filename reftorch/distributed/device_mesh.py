"""A mesh: ranks in rows and columns, with a group for each of them. It exists by its names only.

Mirrors: torch/distributed/device_mesh.py
Leaves out: everything but the errors. ``new_group`` makes the groups of a mesh one by one.
"""

from __future__ import annotations

from typing import Any, NoReturn

from reftorch import _places

__all__ = ["DeviceMesh", "init_device_mesh"]

_WHY = "a mesh of ranks does not exist here. Hint: torch.distributed.new_group makes a group of ranks"


class DeviceMesh:
    """Ranks in rows and columns. Nothing makes one here.

    Raises:
        NotImplementedError: always, when one is made.

    Mirrors torch/distributed/device_mesh.py, ``DeviceMesh``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"DeviceMesh: {_WHY}")


def init_device_mesh(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise an error.

    Raises:
        NotImplementedError: always.

    Mirrors torch/distributed/device_mesh.py, ``init_device_mesh``.
    """
    raise NotImplementedError(f"init_device_mesh: {_WHY}")


_places.adopt(__name__, __all__, globals())
