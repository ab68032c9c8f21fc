"""Passes: programs that change graphs, or note facts about their nodes.

Mirrors: torch/fx/passes/__init__.py
Leaves out: the passes of compilers, and those that serve vendors' accelerators only: ``splitter_base``,
    ``net_min_base``, ``param_fetch``, ``graph_transform_observer``, ``backends``.

A module that the course does not use says why it stays.
"""

from reftorch.fx.passes import (
    graph_drawer,
    graph_manipulation,
    infra,
    operator_support,
    pass_manager,
    shape_prop,
    split_module,
    split_utils,
    tools_common,
)

__all__ = [
    "graph_drawer",
    "graph_manipulation",
    "infra",
    "operator_support",
    "pass_manager",
    "shape_prop",
    "split_module",
    "split_utils",
    "tools_common",
]
