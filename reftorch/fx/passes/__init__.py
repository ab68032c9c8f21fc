"""Passes: programs that change graphs, or note facts about their nodes.

Mirrors: torch/fx/passes/__init__.py
Leaves out: the passes of compilers.
"""

from reftorch.fx.passes import (
    graph_drawer,
    graph_manipulation,
    graph_transform_observer,
    infra,
    net_min_base,
    operator_support,
    param_fetch,
    pass_manager,
    shape_prop,
    split_module,
    split_utils,
    splitter_base,
    tools_common,
)

__all__ = [
    "graph_drawer",
    "graph_manipulation",
    "graph_transform_observer",
    "infra",
    "net_min_base",
    "operator_support",
    "param_fetch",
    "pass_manager",
    "shape_prop",
    "split_module",
    "split_utils",
    "splitter_base",
    "tools_common",
]
