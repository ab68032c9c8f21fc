"""What a state dict may have in place of a dict: an object that makes one.

Mirrors: torch/distributed/checkpoint/stateful.py
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

__all__ = ["Stateful"]


@runtime_checkable
class Stateful(Protocol):
    """An object with a state, such as a module or an optimizer.

    Mirrors torch/distributed/checkpoint/stateful.py, ``Stateful``.
    """

    def state_dict(self) -> dict[str, Any]:
        """Return the state."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any:
        """Take a state."""
        ...
