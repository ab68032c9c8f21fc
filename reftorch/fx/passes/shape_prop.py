"""Noting the shapes and dtypes of all results of a graph, by running the graph.

Mirrors: torch/fx/passes/shape_prop.py
Leaves out: fake tensors, in whose place tensors on the meta device serve; quantized and sparse tensors.
"""

from __future__ import annotations

import traceback
from typing import Any, NamedTuple

import reftorch
from reftorch._tensor import Tensor
from reftorch.fx.graph_module import GraphModule
from reftorch.fx.interpreter import Interpreter
from reftorch.fx.node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What :class:`ShapeProp` notes about a tensor.

    Mirrors torch/fx/passes/shape_prop.py, ``TensorMetadata``.
    """

    shape: Any
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    memory_format = None
    if include_contiguity:
        formats = (reftorch.contiguous_format, reftorch.channels_last)
        memory_format = next((f for f in formats if result.is_contiguous(memory_format=f)), None)
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), memory_format, False, {})


class ShapeProp(Interpreter):
    """Runs a module on inputs, and notes the shape, dtype and strides of each result in ``node.meta["tensor_meta"]``.

    With inputs on the meta device, and a module there, nothing is computed.

    Args:
        gm: the module.
        fake_mode: None. PyTorch's fake tensors do not exist here; the meta device serves.

    Raises:
        RuntimeError: a node fails; the message names the node.
        TypeError: ``fake_mode`` is not None.

    Example:
        >>> from reftorch.fx.passes.shape_prop import ShapeProp
        >>> module = torch.fx.symbolic_trace(torch.nn.Linear(2, 3, device="meta"))
        >>> _ = ShapeProp(module).propagate(torch.empty(5, 2, device="meta"))
        >>> [(node.name, node.meta["tensor_meta"].shape) for node in module.graph.nodes]
        [('input_1', torch.Size([5, 2])), ...]

    Mirrors torch/fx/passes/shape_prop.py, ``ShapeProp``.
    """

    def __init__(self, gm: GraphModule, fake_mode: None = None) -> None:
        super().__init__(gm)
        if fake_mode is not None:
            raise TypeError(
                f"ShapeProp: fake_mode must be None, got {type(fake_mode).__name__}. "
                "Hint: to compute nothing, give tensors on the meta device, and a module there."
            )

    def run_node(self, n: Node) -> Any:
        """Run a node and note what its result is."""
        try:
            result = super().run_node(n)
        except Exception as e:
            traceback.print_exc()
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from e
        found = False

        def extract(obj: Any) -> Any:
            nonlocal found
            if not isinstance(obj, Tensor):
                return obj
            found = True
            return _extract_tensor_metadata(obj)

        meta = map_aggregate(result, extract)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the module on inputs, note all shapes, and return the result.

        Mirrors torch/fx/passes/shape_prop.py, ``ShapeProp.propagate``.
        """
        return super().run(*args)
