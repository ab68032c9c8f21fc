"""The graph, as one can look at it: nodes, edges and their hooks.

Mirrors: torch/autograd/graph.py
Leaves out: saved-tensor hooks, ``register_multi_grad_hook``, ``allow_mutation_on_saved_tensors``.
"""

from __future__ import annotations

import abc
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from reftorch import _C

if TYPE_CHECKING:
    from reftorch import Tensor
    from reftorch.utils.hooks import RemovableHandle

__all__ = ["GradientEdge", "Node", "get_gradient_edge"]


class Node(abc.ABC):
    """What ``grad_fn`` is: one step of the backward graph.

    Each op makes a node of its own class: ``type((x * y).grad_fn).__name__`` is ``MulBackward0``. What a node keeps for
    its formula can be read from its ``_saved_*`` attributes.

    Example:
        >>> import reftorch as torch
        >>> x = torch.ones(2, requires_grad=True)
        >>> node = (x * torch.tensor([2.0, 3.0])).grad_fn
        >>> isinstance(node, torch.autograd.graph.Node), node.name()
        (True, 'MulBackward0')
        >>> node._saved_other
        tensor([2., 3.])
        >>> node.next_functions[0][0].variable is x
        True

    Mirrors torch/autograd/graph.py, ``Node``.
    """

    @abc.abstractmethod
    def name(self) -> str:
        """Return the node's name, such as ``MulBackward0``."""

    @property
    @abc.abstractmethod
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """Where the node's gradients go: for each differentiable input, a node and which of its inputs."""

    @property
    @abc.abstractmethod
    def metadata(self) -> dict[str, Any]:
        """A dict for whatever one wants to note about the node."""

    @abc.abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after the node ran; a tuple it returns replaces ``grad_inputs``."""

    @abc.abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the node runs; a tuple it returns replaces ``grad_outputs``."""

    @classmethod
    def __subclasshook__(cls, subclass: type) -> Any:
        if cls is Node:
            return issubclass(subclass, (_C._functions.Node, _C._FunctionBase))
        return NotImplemented


class GradientEdge(NamedTuple):
    """A place in the graph: output ``output_nr`` of the op that ``node`` is the gradient of.

    It may stand for the tensor in :func:`reftorch.autograd.grad`, and keeps the graph alive, not the tensor.

    Mirrors torch/autograd/graph.py, ``GradientEdge``.
    """

    node: Any
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return where the gradient of a tensor goes.

    Args:
        tensor: one that requires a gradient.

    Raises:
        RuntimeError: it does not.

    Example:
        >>> import reftorch as torch
        >>> x = torch.tensor(2.0, requires_grad=True)
        >>> y = x * x
        >>> edge = torch.autograd.graph.get_gradient_edge(y)
        >>> torch.autograd.grad(y * 3, edge)
        (tensor(3.),)

    Mirrors torch/autograd/graph.py, ``get_gradient_edge``.
    """
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(_C._grad_fn_or_accumulator(tensor), tensor.output_nr)


def _removable_handle(hooks: OrderedDict[int, Callable[..., Any]], hook: Callable[..., Any]) -> RemovableHandle:
    from reftorch.utils.hooks import RemovableHandle  # above autograd: fetched when the first hook is registered

    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def _register_tensor_hook(tensor: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    """Tensor.register_hook, once it is known that the tensor requires a gradient."""
    if tensor._backward_hooks is None:
        tensor._backward_hooks = OrderedDict()
        if tensor.grad_fn is not None:
            tensor.grad_fn._register_hook_dict(tensor)
    return _removable_handle(tensor._backward_hooks, hook)


def _register_post_accumulate_grad_hook(tensor: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Tensor.register_post_accumulate_grad_hook, once it is known that the tensor is a leaf with a gradient."""
    if tensor._post_accumulate_grad_hooks is None:
        tensor._post_accumulate_grad_hooks = OrderedDict()
    return _removable_handle(tensor._post_accumulate_grad_hooks, hook)
