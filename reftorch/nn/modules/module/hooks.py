"""Hooks before and after a module's forward.

Mirrors: torch/nn/modules/module.py, the forward hooks of ``Module`` and ``_call_impl``
Leaves out: calls of compiled modules.

Note [Calls without hooks]
    Problem: most calls of most modules run no hook, yet eight dicts may hold hooks: those before and after forward and
    backward, of this module and of all modules. Checking all eight would double the cost of calling a small module.
    Trick: the rare hooks (those of all modules, and those of backward passes) enter their ids into one more dict,
    ``_closer_look``, and their handles remove the ids. A call checks that dict and the module's two dicts of forward
    hooks; if all three are empty, the call goes straight to ``forward``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from reftorch._places import SplitModule
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.nn.modules.module.backward_hooks import BackwardHook, BackwardHooks, _closer_look
from reftorch.utils.hooks import RemovableHandle

__all__ = ["ForwardHooks", "register_module_forward_hook", "register_module_forward_pre_hook"]

_global_forward_pre_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_forward_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
_global_forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()


class HookModule(SplitModule):
    """The class of the module ``nn.modules.module``: calls look closer once a program has replaced global hooks."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name.startswith("_global_") and value:
            _closer_look[-1] = True


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before the forward of every module; it runs before the module's own hooks.

    Args:
        hook: returns None, or the arguments to use instead: a tuple, or a single value.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Example:
        >>> from reftorch.nn.modules.module import register_module_forward_pre_hook
        >>> with register_module_forward_pre_hook(lambda module, args: print(type(module).__name__)):
        ...     _ = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh())(torch.zeros(1))
        Sequential
        ReLU
        Tanh

    Mirrors torch/nn/modules/module.py, ``register_module_forward_pre_hook``.
    """
    handle = RemovableHandle(_global_forward_pre_hooks, extra_dict=_closer_look)
    _global_forward_pre_hooks[handle.id] = hook
    _closer_look[handle.id] = True
    return handle


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after the forward of every module; it runs before the module's own hooks.

    Args:
        hook: returns None, or the output to use instead.
        with_kwargs: call ``hook(module, args, kwargs, output)``.
        always_call: call the hook also if forward raised an error; its ``output`` is then None.

    Returns:
        A handle whose ``remove()`` removes the hook.

    Example:
        >>> from reftorch.nn.modules.module import register_module_forward_hook
        >>> with register_module_forward_hook(lambda module, args, output: output + 1):
        ...     torch.nn.Identity()(torch.zeros(1))
        tensor([1.])

    Mirrors torch/nn/modules/module.py, ``register_module_forward_hook``.
    """
    extras = [_global_forward_hooks_with_kwargs, _global_forward_hooks_always_called, _closer_look]
    handle = RemovableHandle(_global_forward_hooks, extra_dict=extras)
    _global_forward_hooks[handle.id] = hook
    _closer_look[handle.id] = True
    if with_kwargs:
        _global_forward_hooks_with_kwargs[handle.id] = True
    if always_call:
        _global_forward_hooks_always_called[handle.id] = True
    return handle


class ForwardHooks(BackwardHooks):
    """The part of ``Module`` that stores forward hooks, and runs the hooks around forward."""

    forward: Callable[..., Any]
    _forward_hooks: OrderedDict[int, Callable]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: OrderedDict[int, Callable]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before every forward.

        Args:
            hook: returns None, or the arguments to use instead: a tuple, or a single value.
            prepend: run before the hooks that are registered already.
            with_kwargs: call ``hook(module, args, kwargs)``; the hook returns None or a pair ``(args, kwargs)``.

        Returns:
            A handle whose ``remove()`` removes the hook.

        Example:
            >>> double = torch.nn.Identity()
            >>> handle = double.register_forward_pre_hook(lambda module, args: args[0] * 2)
            >>> double(torch.ones(2))
            tensor([2., 2.])

        Mirrors torch/nn/modules/module.py, ``Module.register_forward_pre_hook``.
        """
        handle = RemovableHandle(self._forward_pre_hooks, extra_dict=self._forward_pre_hooks_with_kwargs)
        self._forward_pre_hooks[handle.id] = hook
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        if prepend:
            self._forward_pre_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after every forward.

        Args:
            hook: returns None, or the output to use instead.
            prepend: run before the hooks that are registered already.
            with_kwargs: call ``hook(module, args, kwargs, output)``.
            always_call: call the hook also if forward raised an error; its ``output`` is then None.

        Returns:
            A handle whose ``remove()`` removes the hook.

        Example:
            >>> layer = torch.nn.Linear(2, 3)
            >>> handle = layer.register_forward_hook(lambda module, args, output: print(tuple(output.shape)))
            >>> _ = layer(torch.ones(4, 2))
            (4, 3)

        Mirrors torch/nn/modules/module.py, ``Module.register_forward_hook``.
        """
        handle = RemovableHandle(
            self._forward_hooks, extra_dict=[self._forward_hooks_with_kwargs, self._forward_hooks_always_called]
        )
        self._forward_hooks[handle.id] = hook
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        if prepend:
            self._forward_hooks.move_to_end(handle.id, last=False)
        return handle

    def _run_forward_pre_hooks(self, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        for hook_id, hook in (*_global_forward_pre_hooks.items(), *self._forward_pre_hooks.items()):
            if hook_id in self._forward_pre_hooks_with_kwargs:
                result = hook(self, args, kwargs)
                if result is None:
                    continue
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {result}."
                    )
                args, kwargs = result
            else:
                result = hook(self, args)
                if result is not None:
                    args = result if isinstance(result, tuple) else (result,)
        return args, kwargs

    def _run_forward_hook(self, hook_id: int, hook: Callable, args: tuple, kwargs: dict, output: Any) -> Any:
        if hook_id in self._forward_hooks_with_kwargs or hook_id in _global_forward_hooks_with_kwargs:
            changed = hook(self, args, kwargs, output)
        else:
            changed = hook(self, args, output)
        return output if changed is None else changed

    def _call_with_hooks(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        output = None
        called = set()
        try:
            args, kwargs = self._run_forward_pre_hooks(args, kwargs)
            full_hooks, last_node_hooks = self._get_backward_hooks()
            pre_hooks = self._get_backward_pre_hooks()
            backward_hook = BackwardHook(self, full_hooks, pre_hooks) if full_hooks or pre_hooks else None
            if backward_hook is not None:
                args = backward_hook.setup_input_hook(args)
            output = self.forward(*args, **kwargs)
            for hook_id, hook in (*_global_forward_hooks.items(), *self._forward_hooks.items()):
                called.add(hook_id)
                output = self._run_forward_hook(hook_id, hook, args, kwargs, output)
            if backward_hook is not None:
                if not isinstance(output, (Tensor, tuple)):
                    warn(
                        "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                        f"received {type(output)}",
                    )
                output = backward_hook.setup_output_hook(output)
            if last_node_hooks:
                self._hook_last_node(last_node_hooks, args, output)
        except Exception:
            self._run_always_called_hooks(called, args, kwargs, output)
            raise
        return output

    def _run_always_called_hooks(self, called: set[int], args: tuple, kwargs: dict, output: Any) -> None:
        """After an error in forward, run the hooks with ``always_call``; their own errors become warnings."""
        always = {**_global_forward_hooks_always_called, **self._forward_hooks_always_called}
        for hook_id, hook in (*_global_forward_hooks.items(), *self._forward_hooks.items()):
            if hook_id not in always or hook_id in called:
                continue
            try:
                output = self._run_forward_hook(hook_id, hook, args, kwargs, output)
            except Exception as error:
                scope = "global module" if hook_id in _global_forward_hooks else "module"
                warn(
                    f"{scope} forward hook with ``always_call=True`` raised an exception that was silenced as another "
                    f"error was raised in forward: {error}",
                )


def _forward_unimplemented(self: Any, *input: Any) -> None:
    """Compute the output; every subclass overrides this method. Call the module itself, so that hooks run."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')
