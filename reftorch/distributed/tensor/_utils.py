"""The piece of a tensor that a rank has. It exists by its name only.

Mirrors: torch/distributed/tensor/_utils.py
Leaves out: everything but the error.
"""

from __future__ import annotations

from typing import Any, NoReturn


def compute_local_shape_and_global_offset(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise an error.

    Raises:
        NotImplementedError: always.

    Mirrors torch/distributed/tensor/_utils.py, ``compute_local_shape_and_global_offset``.
    """
    raise NotImplementedError(
        "compute_local_shape_and_global_offset: tensors that lie in pieces on several ranks do not exist here."
    )
