"""A torch.autograd.Function in one expression, for tests that need many small ones.

Mirrors: nothing in PyTorch: its tests write each out as a class.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any


def function(
    lib: ModuleType, forward: Callable[..., Any], backward: Callable[..., Any] | None = None, **more: Any
) -> Any:
    """A Function of the library's; what can be called is a static method, the rest an attribute."""
    members = {"forward": forward, "backward": backward, **more}
    return type(
        "F",
        (lib.autograd.Function,),
        {name: staticmethod(m) if callable(m) else m for name, m in members.items() if m is not None},
    )
