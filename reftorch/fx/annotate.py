"""Annotations of proxies.

Mirrors: torch/fx/annotate.py
"""

from __future__ import annotations

from typing import Any

from reftorch.fx.proxy import Proxy

__all__ = ["annotate"]


def annotate(val: Any, type: Any) -> Any:
    """Set the type of a proxy's node, and return the proxy; another value is returned unchanged.

    Args:
        val: a proxy of a node that has no type, or any other value.
        type: the type.

    Raises:
        RuntimeError: the node has a type.

    Example:
        >>> from reftorch.fx.annotate import annotate
        >>> print(torch.fx.symbolic_trace(lambda x: annotate(x + 1, int)).code.strip())
        def forward(self, x):
            add : int = x + 1;  x = None
            return add

    Mirrors torch/fx/annotate.py, ``annotate``.
    """
    if isinstance(val, Proxy):
        if val.node.type:
            raise RuntimeError(
                f"Tried to annotate a value that already had a type on it! Existing type is {val.node.type} and new "
                f"type is {type}. This could happen if you tried to annotate a function parameter value (in which case "
                f"you should use the type slot on the function signature) or you called annotate on the same value "
                "twice"
            )
        val.node.type = type
    return val
