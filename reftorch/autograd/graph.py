"""The graph as programs can inspect and change it: nodes, edges, hooks, and saved tensors.

Mirrors: torch/autograd/graph.py
Leaves out: switches for CUDA streams and compiled regions; logging hooks on a whole graph.
"""

from __future__ import annotations

import abc
import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

from reftorch import _C
from reftorch.autograd.grad_mode import enable_grad

if TYPE_CHECKING:
    from reftorch import Tensor
    from reftorch.utils.hooks import RemovableHandle

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class Node(abc.ABC):
    """The class of ``grad_fn``: one step of the backward graph.

    The nodes of each op have their own class: ``type((x * y).grad_fn).__name__`` is ``MulBackward0``. The values that a
    node saved for its formula are its ``_saved_*`` attributes.

    Example:
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
        """The edges to the next nodes: for each differentiable input, the next node and the index of its input."""

    @property
    @abc.abstractmethod
    def metadata(self) -> dict[str, Any]:
        """A dict in which programs can store anything about the node."""

    @abc.abstractmethod
    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after the node ran.

        If ``fn`` returns a tuple, the tuple replaces ``grad_inputs``.
        """

    @abc.abstractmethod
    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before the node runs.

        If ``fn`` returns a tuple, the tuple replaces ``grad_outputs``.
        """

    @classmethod
    def __subclasshook__(cls, subclass: type) -> Any:
        if cls is Node:
            kinds = (_C._functions.Node, _C._FunctionBase, _C._functions.DelayedError, _C._functions.UndefinedGrad)
            return subclass is Node or issubclass(subclass, kinds)
        return NotImplemented


class GradientEdge(NamedTuple):
    """An edge of the graph: output ``output_nr`` of the op whose gradient ``node`` computes.

    The edge may replace the tensor in :func:`reftorch.autograd.grad`. It keeps the graph alive, but not the tensor.

    Example:
        >>> x = torch.ones(2, requires_grad=True)
        >>> y = x * 3
        >>> edge = torch.autograd.graph.get_gradient_edge(y)
        >>> torch.autograd.grad((y * y).sum(), edge)
        (tensor([6., 6.]),)

    Mirrors torch/autograd/graph.py, ``GradientEdge``.
    """

    node: Any
    output_nr: int
    ownership_token: Any = None  # a node that keeps the graph alive, if ``node`` does not


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return the edge along which the gradient of a tensor flows.

    Args:
        tensor: a tensor that requires a gradient.

    Raises:
        RuntimeError: the tensor does not require a gradient.

    Example:
        >>> x = torch.tensor(2.0, requires_grad=True)
        >>> y = x * x
        >>> edge = torch.autograd.graph.get_gradient_edge(y)
        >>> torch.autograd.grad(y * 3, edge)
        (tensor(3.),)

    Mirrors torch/autograd/graph.py, ``get_gradient_edge``.
    """
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node = _C._grad_fn_or_accumulator(tensor)
    token = None
    if isinstance(node, _C._FunctionBase):
        with enable_grad():
            token = tensor.view_as(tensor).grad_fn
    return GradientEdge(node, tensor.output_nr, token)


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Count an in-place change that autograd did not see, so that autograd notices that a saved tensor was changed.

    Args:
        tensor: a tensor or several tensors; tensors of inference mode have no count.

    Raises:
        RuntimeError: an argument is not a tensor.

    Example:
        >>> x = torch.ones(2)
        >>> torch.autograd.graph.increment_version(x)
        >>> x._version
        1

    Mirrors torch/autograd/graph.py, ``increment_version``.
    """
    if not isinstance(tensor, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for each in (tensor,) if isinstance(tensor, _C.TensorBase) else tensor:
        if not isinstance(each, _C.TensorBase):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
        _C._autograd._increment_version(each)


def _removable_handle(hooks: OrderedDict[int, Callable[..., Any]], hook: Callable[..., Any]) -> RemovableHandle:
    from reftorch.utils.hooks import RemovableHandle  # above autograd, so not imported earlier

    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def _register_tensor_hook(tensor: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    """Implement Tensor.register_hook for a tensor that requires a gradient."""
    node = tensor.grad_fn
    if tensor._backward_hooks is None or (node is not None and not node._has_hook_dict(tensor)):
        tensor._backward_hooks = OrderedDict()  # hooks of the value before a change stay with that value
        if node is not None:
            node._register_hook_dict(tensor)
    return _removable_handle(tensor._backward_hooks, hook)


def _register_post_accumulate_grad_hook(tensor: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """Implement Tensor.register_post_accumulate_grad_hook for a leaf that requires a gradient."""
    if tensor._post_accumulate_grad_hooks is None:
        tensor._post_accumulate_grad_hooks = OrderedDict()
    return _removable_handle(tensor._post_accumulate_grad_hooks, hook)


class _MultiHandle:
    """One handle for the hooks of several tensors."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Remove the hook from every tensor."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _MultiHandle:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all") -> _MultiHandle:
    """Call ``fn`` once in each backward pass for several tensors.

    Args:
        tensors: the tensors whose gradients ``fn`` takes.
        fn: for ``mode="all"``, ``fn`` takes a list of gradients, and is called after the last gradient of this pass is
            computed; None stands for a tensor that the pass does not reach. For ``mode="any"``, ``fn`` takes the first
            gradient.
        mode: ``"all"`` or ``"any"``.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Raises:
        ValueError: the mode is neither of the two.
        RuntimeError: a tensor does not require a gradient.

    Example:
        >>> a, b = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
        >>> handle = torch.autograd.graph.register_multi_grad_hook((a, b), print)
        >>> (2 * a + 3 * b).backward()
        [tensor([2.]), tensor([3.])]
        >>> (2 * a).backward()
        [tensor([2.]), None]

    Mirrors torch/autograd/graph.py, ``register_multi_grad_hook``.
    """
    if mode == "all":
        hooks = _all_hooks(tensors, fn)
    elif mode == "any":
        hooks = [_any_hook(fn)] * len(tensors)
        pairs = [(t, hook) for t, hook in zip(tensors, hooks, strict=True) if t.requires_grad]
        return _MultiHandle([t.register_hook(hook) for t, hook in pairs])
    else:
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    return _MultiHandle([t.register_hook(hook) for t, hook in zip(tensors, hooks, strict=True)])


def _all_hooks(tensors: Sequence[Tensor], fn: Callable[[list[Any]], None]) -> list[Callable[[Tensor], None]]:
    """Register a hook on each tensor. The hooks share ``arrived``, which has an entry for each pass that is running."""
    lock = threading.Lock()
    nodes = [_C._grad_fn_or_accumulator(t) for t in tensors]
    arrived: dict[int, tuple[list[Any], list[int]]] = {}

    def make(index: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            task = _C._current_graph_task_id()
            with lock:
                if task not in arrived:
                    arrived[task] = [None] * len(nodes), [sum(map(_C._will_engine_execute_node, nodes))]
                grads, missing = arrived[task]
                grads[index] = grad
                missing[0] -= 1
                last = missing[0] == 0
                if last:
                    del arrived[task]
            if last:
                fn(grads)

        return hook

    return [make(index) for index in range(len(tensors))]


def _any_hook(fn: Callable[[Tensor], None]) -> Callable[[Tensor], None]:
    lock = threading.Lock()
    ran: set[int] = set()

    def hook(grad: Tensor) -> None:
        task = _C._current_graph_task_id()
        with lock:
            first = task not in ran
            if first:
                ran.add(task)
                _C._queue_callback(lambda: ran.discard(task))
        if first:
            fn(grad)

    return hook


class saved_tensors_hooks:
    """Pack each tensor that an op inside saves for backward, and unpack the tensor when backward reads it.

    Args:
        pack_hook: takes the tensor; its result is saved in place of the tensor. The hook must not change the tensor in
            place. To save an op's own output without a reference cycle, the hook returns another tensor:
            ``x.detach()``.
        unpack_hook: takes the result of ``pack_hook``, and returns a tensor of the same content.

    Raises:
        RuntimeError: these hooks are disabled, or ``pack_hook`` changed its tensor.
        TypeError: (in backward) ``unpack_hook`` did not return a tensor.

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> with torch.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), torch.tensor):
        ...     y = x * x
        >>> y.sum().backward()
        >>> x.grad
        tensor([2., 4.])

    Mirrors torch/autograd/graph.py, ``saved_tensors_hooks``.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        _C._autograd._push_saved_tensors_default_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exc_info: object) -> None:
        _C._autograd._pop_saved_tensors_default_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Save tensors in the host's memory, and copy them back to their device when backward reads them.

    Args:
        pin_memory: use pinned memory, from which a GPU can copy while it computes; has no effect without a GPU.
        device_type: the type of the device whose tensors are saved.

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> with torch.autograd.graph.save_on_cpu():
        ...     y = x * x
        >>> torch.autograd.grad(y.sum(), x)
        (tensor([2., 4.]),)

    Mirrors torch/autograd/graph.py, ``save_on_cpu``.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: (tensor.device, tensor.to("cpu")), lambda packed: packed[1].to(packed[0]))


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Make :class:`saved_tensors_hooks` raise inside, for a feature that does not work with these hooks.

    Args:
        error_message: the message of the RuntimeError.

    Raises:
        RuntimeError: hooks are active already.

    Example:
        >>> with torch.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
        ...     with torch.autograd.graph.save_on_cpu():
        ...         pass
        Traceback (most recent call last):
            ...
        RuntimeError: no hooks here

    Mirrors torch/autograd/graph.py, ``disable_saved_tensors_hooks``.
    """
    former = _C._autograd._saved_tensors_hooks_get_disabled_error_message()
    try:
        _C._autograd._saved_tensors_hooks_disable(error_message)
        yield
    finally:
        if former is None:
            _C._autograd._saved_tensors_hooks_enable()
        else:
            _C._autograd._saved_tensors_hooks_disable(former)


class _Handle:
    """The object that nodes keep in place of a tensor that they saved. It is freed with the last of these nodes."""

    __slots__ = ("__weakref__", "tid")

    def __init__(self, tid: tuple[int, int, int]) -> None:
        self.tid = tid


class _AllowMutationOnSavedContext:
    """The tensors that nodes saved inside: the originals, or copies that were made just before an in-place change."""

    def __init__(self) -> None:
        self.original: WeakKeyDictionary[_Handle, Tensor] = WeakKeyDictionary()
        self.cloned: WeakKeyDictionary[_Handle, Tensor] = WeakKeyDictionary()
        # The handles of the originals, by object, memory and version: a tensor that is saved twice is copied once.
        self.tid_to_weakhandle: WeakValueDictionary[tuple[int, int, int], _Handle] = WeakValueDictionary()
        self.open = True

    def pack(self, tensor: Tensor) -> _Handle:
        tid = (id(tensor), tensor.data_ptr(), tensor._version)
        handle = self.tid_to_weakhandle.get(tid)
        if handle is None:
            handle = self.tid_to_weakhandle[tid] = _Handle(tid)
            self.original[handle] = tensor
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        if not self.open:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was "
                "originally recorded."
            )
        return self.cloned[handle] if handle in self.cloned else self.original[handle]

    def before_write(self, tensor: Tensor) -> None:
        """Copy the saved tensors that use the storage, just before the storage changes."""
        storage = tensor._storage_data_ptr()
        for handle, original in list(self.original.items()):
            if original._storage_data_ptr() == storage:
                self.cloned[handle] = original.detach().clone()
                del self.original[handle], self.tid_to_weakhandle[handle.tid]

    def clear(self) -> None:
        self.open = False
        self.original.clear()
        self.cloned.clear()
        self.tid_to_weakhandle.clear()


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """Copy a saved tensor just before it is changed in place, so that backward does not fail.

    Forward and backward must both run inside. A tensor that is not changed is not copied.

    Example:
        >>> with torch.autograd.graph.allow_mutation_on_saved_tensors():
        ...     x = torch.tensor([1.0, 2.0], requires_grad=True)
        ...     y = x * 1
        ...     z = (y * y).sum()
        ...     _ = y.zero_()
        ...     z.backward()
        >>> x.grad
        tensor([2., 4.])

    Mirrors torch/autograd/graph.py, ``allow_mutation_on_saved_tensors``.
    """
    context = _AllowMutationOnSavedContext()
    former = _C._autograd._set_before_write_hook(context.before_write)
    if former is not None:
        _C._autograd._set_before_write_hook(former)
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    try:
        with saved_tensors_hooks(context.pack, context.unpack):
            yield context
    finally:
        context.clear()
        _C._autograd._set_before_write_hook(None)
