"""The engine in pure Python. It does what ``csrc/autograd/engine.cpp`` does, and is meant to be read first.

The engine runs the graphs that ops record. A node is called with the gradients of its op's outputs, and returns one
gradient for each of its ``next_functions``. A node may run when all gradients that flow to it have been summed. The
engine does nothing else.

Mirrors: nothing in PyTorch, whose first engine, in 2016, was such a loop in Python.
Leaves out: hooks, ``retain_grad``, freeing saved tensors, anomaly mode and several threads, which the C++ engine has.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

from reftorch import _C
from reftorch.autograd.grad_mode import set_grad_enabled

__all__ = ["backward", "grad"]

Edge = tuple[Any, int]  # a node, and the index of the input that receives the gradient


def gradient_edge(tensor: Any) -> Edge:
    """Return the edge that receives the gradient of a tensor: its ``grad_fn``, or the AccumulateGrad of a leaf."""
    return _C._grad_fn_or_accumulator(tensor), tensor.output_nr


def compute_dependencies(roots: Sequence[Edge]) -> dict[Any, int]:
    """Count, for each reachable node, the edges that lead to the node."""
    dependencies: dict[Any, int] = {node: 0 for node, _ in roots}
    for node, _ in roots:
        dependencies[node] += 1
    pending = list(dependencies)
    while pending:
        for child, _ in pending.pop().next_functions:
            if child is not None:
                if child not in dependencies:
                    dependencies[child] = 0
                    pending.append(child)
                dependencies[child] += 1
    return dependencies


def validate(gradient: Any, edge: Edge) -> Any:
    """Return the gradient in the shape and dtype of its tensor: sum over the dimensions that were broadcast."""
    node, input_nr = edge
    expected = node._input_metadata[input_nr]
    if expected is None:
        return gradient
    if gradient.shape != expected.shape:
        gradient = gradient.sum_to_size(expected.shape)
    return gradient.to(expected.dtype)


def run(roots: Sequence[Edge], gradients: Sequence[Any], wanted: Sequence[Edge] | None) -> list[Any]:
    """Send gradients from the roots through the graph.

    Args:
        roots: the edges at which the pass starts.
        gradients: a tensor for each root.
        wanted: the edges whose gradients are returned; leaves accumulate nothing then. None makes the leaves
            accumulate.

    Returns:
        For each wanted edge its gradient; None if no gradient arrived.
    """
    dependencies = compute_dependencies(roots)
    buffers: dict[Any, list[Any]] = {node: [None] * len(node._input_metadata) for node in dependencies}
    ready: list[tuple[int, int, Any]] = []  # a heap: the node that was recorded last is first

    def deliver(edge: Edge, gradient: Any) -> None:
        node, input_nr = edge
        if gradient is not None:
            former, gradient = buffers[node][input_nr], validate(gradient, edge)
            buffers[node][input_nr] = gradient if former is None else former + gradient
        dependencies[node] -= 1
        if dependencies[node] == 0:
            heappush(ready, (-node._sequence_nr(), len(ready), node))

    for edge, gradient in zip(roots, gradients, strict=True):
        deliver(edge, gradient)
    while ready:
        _, _, node = heappop(ready)
        is_leaf = not node.next_functions
        if is_leaf and wanted is not None:
            continue
        results = node(*buffers[node])
        results = results if isinstance(results, tuple) else (results,)
        for edge, gradient in zip(node.next_functions, () if is_leaf else results, strict=True):
            if edge[0] is not None:
                deliver(edge, gradient)
    return [buffers[node][input_nr] if node in buffers else None for node, input_nr in wanted or ()]


def backward(tensor: Any, gradient: Any = None, create_graph: bool = False) -> None:
    """Add to the ``grad`` of every leaf the gradient of ``tensor``, as ``tensor.backward(gradient)`` does.

    Args:
        tensor: the tensor to differentiate.
        gradient: a gradient of its shape; ones by default.
        create_graph: record the pass, so that gradients can be differentiated.

    Example:
        >>> from reftorch.autograd import python_engine
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> python_engine.backward((x * x).sum())
        >>> x.grad
        tensor([2., 4.])

    Mirrors torch/csrc/autograd/engine.cpp, ``Engine::execute``.
    """
    with set_grad_enabled(create_graph):
        seed = _C._VariableFunctions.ones_like(tensor) if gradient is None else gradient
        run([gradient_edge(tensor)], [seed], None)


def grad(output: Any, inputs: Sequence[Any], gradient: Any = None, create_graph: bool = False) -> tuple[Any, ...]:
    """Return the gradients of ``output`` with respect to ``inputs``; None for an input on which it does not depend.

    Args:
        output: the tensor to differentiate.
        inputs: any tensors of the graph.
        gradient: a gradient of the output's shape; ones by default.
        create_graph: record the pass, so that the result can be differentiated.

    Example:
        >>> from reftorch.autograd import python_engine
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> python_engine.grad(x * x, [x])
        (tensor(6.),)

    Mirrors torch/csrc/autograd/engine.cpp, ``Engine::execute``.
    """
    with set_grad_enabled(create_graph):
        seed = _C._VariableFunctions.ones_like(output) if gradient is None else gradient
        return tuple(run([gradient_edge(output)], [seed], [gradient_edge(tensor) for tensor in inputs]))
