"""Hooks on the gradients of a module's outputs and inputs.

Mirrors: torch/nn/modules/module.py (the backward hooks of ``Module``), torch/utils/hooks.py (``BackwardHook``),
torch/nn/modules/_functions.py (``BackwardHookFunction``)

Note [Two nodes around a module]
    Problem: a module may consist of any number of nodes; no single node stands for all its inputs or all its outputs.
    Trick: while a module has backward hooks, its tensor arguments pass through one node that does nothing, and its
    results through another. The gradients of the outputs are complete when the second node runs, and those of the
    inputs when the first one runs, so these nodes call the hooks. As a consequence, forward gets views of its
    arguments, the caller gets views of the results, and neither may be changed in place.
"""

from __future__ import annotations

import functools
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from reftorch import _places
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.autograd.function import Function
from reftorch.autograd.grad_mode import is_grad_enabled
from reftorch.utils.hooks import RemovableHandle

__all__ = [
    "BackwardHooks",
    "register_module_backward_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
]

_global_backward_pre_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_backward_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_is_full_backward_hook: bool | None = None  # None until the first of these hooks is registered

# The ids of the rare hooks; while there are any, every call takes the slow path: see Note [Calls without hooks].
_closer_look: OrderedDict[int, bool] = OrderedDict()


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` for every module; it runs before the module's own hooks.

    Args:
        hook: see :meth:`Module.register_full_backward_pre_hook`.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Example:
        >>> from reftorch.nn.modules.module import register_module_full_backward_pre_hook
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Tanh())
        >>> with register_module_full_backward_pre_hook(lambda module, grad_output: print(type(module).__name__)):
        ...     net(torch.ones(1, 2)).sum().backward()
        Sequential
        Tanh
        Linear

    Mirrors torch/nn/modules/module.py, ``register_module_full_backward_pre_hook``.
    """
    return _add(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` for every module; it runs before the module's own hooks.

    Args:
        hook: see :meth:`Module.register_full_backward_hook`.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Example:
        >>> from reftorch.nn.modules.module import register_module_full_backward_hook
        >>> x = torch.ones(1, 2, requires_grad=True)
        >>> with register_module_full_backward_hook(lambda module, grad_input, grad_output: print(grad_input)):
        ...     torch.nn.Tanh()(x * 0).sum().backward()
        (tensor([[1., 1.]]),)

    Mirrors torch/nn/modules/module.py, ``register_module_full_backward_hook``.
    """
    _choose_global_kind(True)
    return _add(_global_backward_hooks, hook)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` for every module; PyTorch keeps this function for old programs.

    The hook stands at the last node of the module alone: see :meth:`Module.register_backward_hook`.

    Raises:
        RuntimeError: :func:`register_module_full_backward_hook` was called before.

    Mirrors torch/nn/modules/module.py, ``register_module_backward_hook``.
    """
    _choose_global_kind(False)
    return _add(_global_backward_hooks, hook)


def _choose_global_kind(full: bool) -> None:
    global _global_is_full_backward_hook
    if _global_is_full_backward_hook is (not full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only "
            "one of them."
        )
    _global_is_full_backward_hook = full


def _add(hooks: OrderedDict[int, Callable], hook: Callable, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks, extra_dict=_closer_look)
    hooks[handle.id] = hook
    _closer_look[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class BackwardHooks:
    """The part of ``Module`` that stores backward hooks."""

    _backward_pre_hooks: OrderedDict[int, Callable]
    _backward_hooks: OrderedDict[int, Callable]
    _is_full_backward_hook: bool | None

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` in each backward pass, once the gradients of the outputs are complete.

        Args:
            hook: takes a tuple, with None for an output that is not a tensor; returns None, or the gradients to use
                instead.
            prepend: run before the hooks that are registered already.

        Returns:
            A handle whose ``remove()`` removes the hook.

        Raises:
            RuntimeError: (in backward) the hook returned another number of gradients.

        Example:
            >>> layer = torch.nn.Linear(2, 1)
            >>> handle = layer.register_full_backward_pre_hook(lambda module, grad_output: (grad_output[0] * 10,))
            >>> layer(torch.ones(1, 2)).sum().backward()
            >>> layer.bias.grad
            tensor([10.])

        Mirrors torch/nn/modules/module.py, ``Module.register_full_backward_pre_hook``.
        """
        return self._add_backward_hook(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` in each backward pass, once the inputs have their gradients.

        If no input requires a gradient, the hook is called when the outputs have theirs, and a warning is given.

        Args:
            hook: takes two tuples, with None for values that are not tensors; keyword arguments have no entry. The hook
                returns None, or the gradients of the inputs to use instead.
            prepend: run before the hooks that are registered already.

        Returns:
            A handle whose ``remove()`` removes the hook.

        Raises:
            RuntimeError: (in backward) the hook returned another number of gradients.

        Example:
            >>> act = torch.nn.ReLU()
            >>> handle = act.register_full_backward_hook(lambda module, grad_input, grad_output: print(grad_input))
            >>> x = torch.tensor([-1.0, 1.0], requires_grad=True)
            >>> act(x).sum().backward()
            (tensor([0., 1.]),)

        Mirrors torch/nn/modules/module.py, ``Module.register_full_backward_hook``.
        """
        self._choose_kind(True)
        return self._add_backward_hook(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` in each backward pass; PyTorch keeps it for old programs.

        The hook stands at the node that made the output, not at the module. If the module consists of several nodes,
        ``grad_input`` has the gradients of that node's inputs, and a warning is given in the forward pass.
        Use :meth:`register_full_backward_hook` instead.

        Raises:
            RuntimeError: the module has a full backward hook.

        Mirrors torch/nn/modules/module.py, ``Module.register_backward_hook``.
        """
        self._choose_kind(False)
        return self._add_backward_hook(self._backward_hooks, hook, False)

    def _choose_kind(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only "
                "one of them."
            )
        self._is_full_backward_hook = full

    def _add_backward_hook(self, hooks: OrderedDict[int, Callable], hook: Callable, prepend: bool) -> RemovableHandle:
        handle = _add(hooks, hook, prepend)
        weakref.finalize(self, _closer_look.pop, handle.id, None).atexit = False
        return handle

    def _get_backward_pre_hooks(self) -> list[Callable]:
        return [*_global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]

    def _get_backward_hooks(self) -> tuple[list[Callable], list[Callable]]:
        """Return the full backward hooks, and the others."""
        hooks: dict[bool, list[Callable]] = {True: [], False: []}
        if _global_is_full_backward_hook is not None:
            hooks[_global_is_full_backward_hook] += _global_backward_hooks.values()
        if self._is_full_backward_hook is not None:
            hooks[self._is_full_backward_hook] += self._backward_hooks.values()
        return hooks[True], hooks[False]

    def _hook_last_node(self, hooks: list[Callable], args: tuple, output: Any) -> None:
        """Register hooks that are not full at the node that made the output."""
        value = output
        while not isinstance(value, Tensor):
            value = next(v for v in value.values() if isinstance(v, Tensor)) if isinstance(value, dict) else value[0]
        if value.grad_fn is None:
            return
        for hook in hooks:
            value.grad_fn.register_hook(functools.partial(hook, self))
        missing = _missing_gradients(args, output, value.grad_fn)
        if missing:
            warn(missing, FutureWarning)


def _missing_gradients(args: tuple, output: Any, grad_fn: Any) -> str | None:
    """Say which gradients a hook that is not full will not get, or return None if it will get all."""
    advice = "Please use register_full_backward_hook to get the documented behavior."
    deprecated = "is deprecated and will be removed in future versions. This hook will be missing"
    outputs = (output,) if isinstance(output, Tensor) else output
    if not (isinstance(outputs, tuple) and all(isinstance(t, Tensor) for t in outputs)):
        return (
            "Using non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors "
            f"{deprecated} some of the grad_output. {advice}"
        )
    if not all(isinstance(t, Tensor) for t in args):
        return (
            "Using non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of "
            f"Tensors {deprecated} some of the grad_input. {advice}"
        )
    nodes = {t.grad_fn for t in outputs if t.grad_fn is not None}
    if len(nodes) > 1:
        return (
            "Using a non-full backward hook when outputs are generated by different autograd Nodes "
            f"{deprecated} some grad_output. {advice}"
        )
    if {t.grad_fn for t in args if t.grad_fn is not None} != {node for node, _ in grad_fn.next_functions}:
        return (
            "Using a non-full backward hook when the forward contains multiple autograd Nodes "
            f"{deprecated} some grad_input. {advice}"
        )
    return None


def _look_closer_at(module: BackwardHooks) -> None:
    """Take the slow path for a module that was copied or unpickled with hooks; no handle will remove this entry."""
    if module._backward_pre_hooks or module._backward_hooks:
        _closer_look[-1] = True


class BackwardHookFunction(Function):
    """The node that does nothing, around a module.

    Mirrors torch/nn/modules/_functions.py, ``BackwardHookFunction``.
    """

    @staticmethod
    def forward(ctx: Any, *args: Tensor) -> tuple[Tensor, ...]:
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Any) -> tuple[Any, ...]:
        return args


class BackwardHook:
    """One call of a module with backward hooks; see Note [Two nodes around a module].

    Args:
        module: the first argument of the hooks.
        user_hooks: the hooks that take the gradients of the inputs and the outputs.
        user_pre_hooks: the hooks that take the gradients of the outputs.

    Mirrors torch/utils/hooks.py, ``BackwardHook``.
    """

    def __init__(self, module: Any, user_hooks: list[Callable], user_pre_hooks: list[Callable]) -> None:
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.grad_outputs: tuple | None = None  # None until a gradient has passed through the outputs
        self.num_inputs = self.num_outputs = 0
        self.inputs: list[int] | None = None  # the positions of tensor arguments; None if none requires a gradient
        self.outputs: list[int] | None = None

    def setup_input_hook(self, args: tuple) -> tuple:
        """Pass the arguments through a node; return the new arguments."""
        self.num_inputs = len(args)
        args, self.inputs = self._through_node(args, lambda node: node.register_hook(self._on_inputs))
        return args

    def setup_output_hook(self, args: Any) -> Any:
        """Pass the results through a node; return the new results."""
        results = args if isinstance(args, tuple) else (args,)
        self.num_outputs = len(results)
        results, self.outputs = self._through_node(results, lambda node: node.register_hook(self._on_outputs))
        return results if isinstance(args, tuple) else results[0]

    def _through_node(self, values: tuple, register: Callable[[Any], Any]) -> tuple[tuple, list[int] | None]:
        where = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
        if not (is_grad_enabled() and any(values[i].requires_grad for i in where)):
            return values, None
        passed = BackwardHookFunction.apply(*[values[i] for i in where])
        register(next(t.grad_fn for t in passed if t.requires_grad))
        replaced = list(values)
        for i, tensor in zip(where, passed, strict=True):
            replaced[i] = tensor
        kind = type(values)
        return (tuple(replaced) if kind is tuple else kind(*replaced)), where  # a named tuple keeps its type

    def _on_outputs(self, _: Any, grads: tuple) -> tuple | None:
        assert self.outputs is not None
        self.grad_outputs = _spread(self.outputs, grads, self.num_outputs)
        for hook in self.user_pre_hooks:
            changed = hook(self.module, self.grad_outputs)
            if changed is None:
                continue
            if len(changed) != self.num_outputs:
                raise RuntimeError(
                    f"Backward pre hook returned an invalid number of grad_output, got {len(changed)}, but expected "
                    f"{self.num_outputs}"
                )
            self.grad_outputs = changed
        grad_outputs = self.grad_outputs
        if self.inputs is None:
            self._on_no_inputs()
        return tuple(grad_outputs[i] for i in self.outputs)

    def _on_no_inputs(self) -> None:
        """Call the hooks although no input requires a gradient, and so none will reach the inputs."""
        if self.user_hooks:
            warn(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no "
                "inputs require gradients. See Module.register_full_backward_hook for more details.",
            )
        for hook in self.user_hooks:
            changed = hook(self.module, (None,) * self.num_inputs, self.grad_outputs)
            if changed is not None and not (isinstance(changed, tuple) and all(grad is None for grad in changed)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients."
                )
        self.grad_outputs = None

    def _on_inputs(self, grads: tuple, _: Any) -> tuple | None:
        if self.grad_outputs is None:
            return None  # the gradient did not pass through the outputs, as in a second backward pass
        assert self.inputs is not None
        grad_inputs: Sequence = _spread(self.inputs, grads, self.num_inputs)
        for hook in self.user_hooks:
            changed = hook(self.module, grad_inputs, self.grad_outputs)
            if changed is None:
                continue
            if len(changed) != self.num_inputs:
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(changed)}, but expected "
                    f"{self.num_inputs}"
                )
            grad_inputs = changed
        self.grad_outputs = None
        return tuple(grad_inputs[i] for i in self.inputs)


def _spread(where: list[int], values: Sequence, size: int) -> tuple:
    result = [None] * size
    for i, value in zip(where, values, strict=True):
        result[i] = value
    return tuple(result)


_places.adopt("reftorch.utils.hooks", ["BackwardHook"], globals())
