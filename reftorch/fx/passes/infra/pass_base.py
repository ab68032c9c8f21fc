"""Passes as classes.

Mirrors: torch/fx/passes/infra/pass_base.py

Stays because the passes of executorch subclass ``PassBase`` and return ``PassResult``.
"""

from __future__ import annotations

import abc
from typing import NamedTuple

from reftorch.fx.graph_module import GraphModule
from reftorch.nn import Module

__all__ = ["PassBase", "PassResult"]


class PassResult(NamedTuple):
    """What a pass returns: the module, and whether the pass changed it.

    Mirrors torch/fx/passes/infra/pass_base.py, ``PassResult``.
    """

    graph_module: Module
    modified: bool


class PassBase(abc.ABC):
    """A pass that checks its input before, and its result after. Subclasses define :meth:`call`.

    Mirrors torch/fx/passes/infra/pass_base.py, ``PassBase``.
    """

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """Change the module."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raise an error if the pass cannot run on the module."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raise an error if the pass has not done what it should do."""
