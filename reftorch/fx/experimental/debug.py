"""Stopping in generated code.

Mirrors: torch/fx/experimental/debug.py
"""

from __future__ import annotations

from reftorch.fx.graph_module import GraphModule

__all__ = ["set_trace"]


def set_trace(gm: GraphModule) -> GraphModule:
    """Let a module stop in pdb at the beginning of its generated ``forward``. Return the module.

    The next ``recompile()`` removes the stop.

    Args:
        gm: the module.

    Example:
        >>> module = torch.fx.symbolic_trace(lambda x: x + 1)
        >>> print(torch.fx.experimental.debug.set_trace(module).code.strip())
        def forward(self, x):
            import pdb; pdb.set_trace()
            add = x + 1;  x = None
            return add

    Mirrors torch/fx/experimental/debug.py, ``set_trace``.
    """

    def insert_stop(body: list[str]) -> list[str]:
        return ["import pdb; pdb.set_trace()\n", *body]

    with gm.graph.on_generate_code(lambda current: lambda body: insert_stop(current(body) if current else body)):
        gm.recompile()
    return gm
