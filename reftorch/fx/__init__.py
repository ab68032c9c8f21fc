"""Programs as data: trace a module, read and change it as a graph, and generate a module from the graph.

``symbolic_trace`` runs a module on proxies (``proxy``), which record what the module does as nodes (``node``) of a
graph (``graph``). A ``GraphModule`` holds a graph and a ``forward`` that is generated from it. ``Interpreter`` runs a
graph node by node. Between these, a pass changes graphs:

    >>> def program(x):
    ...     return torch.relu(x) + 1
    >>> module = torch.fx.symbolic_trace(program)
    >>> for node in module.graph.find_nodes(op="call_function", target=torch.relu):
    ...     node.target = torch.neg
    >>> _ = module.recompile()
    >>> print(module.code.strip())
    def forward(self, x):
        relu = torch.neg(x);  x = None
        add = relu + 1;  relu = None
        return add
    >>> module(torch.ones(2))
    tensor([0., 0.])

Mirrors: torch/fx/__init__.py
Leaves out: symbolic shapes and what compilers add.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reftorch._api import getattr_of as _getattr_of
from reftorch.fx import immutable_collections
from reftorch.fx._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from reftorch.fx.graph import CodeGen, Graph
from reftorch.fx.graph_module import GraphModule
from reftorch.fx.interpreter import Interpreter, Transformer
from reftorch.fx.node import Node, has_side_effect, map_arg
from reftorch.fx.proxy import Proxy
from reftorch.fx.subgraph_rewriter import replace_pattern

__all__ = [
    "PH",
    "CodeGen",
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "ProxyableClassMeta",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "immutable_collections",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]

if TYPE_CHECKING:
    from reftorch.fx import annotate, experimental, passes  # noqa: F401
else:
    __getattr__ = _getattr_of("reftorch.fx", ("annotate", "config", "experimental", "passes"))
