"""Passes: programs that change graphs, or note facts about their nodes.

Mirrors: torch/fx/passes/__init__.py
Leaves out: the passes of compilers, and those that split a graph between a processor and an accelerator.
"""

from reftorch.fx.passes import (
    graph_drawer,
    net_min_base,
    pass_manager,
    shape_prop,
    split_module,
    split_utils,
    tools_common,
)

__all__ = [
    "graph_drawer",
    "net_min_base",
    "pass_manager",
    "shape_prop",
    "split_module",
    "split_utils",
    "tools_common",
]
