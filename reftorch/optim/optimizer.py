"""The base class of every optimizer: groups of parameters, their options, and a state for each parameter.

Mirrors: torch/optim/optimizer.py
Leaves out: the ``foreach``, ``fused``, ``capturable`` and ``differentiable`` variants of a step, and profiling.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from reftorch._tensor import Tensor
from reftorch._utils import typename
from reftorch._warnings import warn
from reftorch.utils.hooks import RemovableHandle

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

_global_optimizer_pre_hooks: OrderedDict[int, Callable] = OrderedDict()
_global_optimizer_post_hooks: OrderedDict[int, Callable] = OrderedDict()

_HOOKS = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


class _RequiredParameter:
    """The default of an option that every parameter group has to give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


def _register(hooks: OrderedDict[int, Callable], hook: Callable, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before the step of every optimizer.

    Args:
        hook: returns None, or a pair of ``args`` (which includes the optimizer) and ``kwargs`` to use instead.

    Example:
        >>> import reftorch as torch
        >>> from reftorch.optim.optimizer import register_optimizer_step_pre_hook
        >>> with register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: print("step")):
        ...     torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))]).step()
        step

    Mirrors torch/optim/optimizer.py, ``register_optimizer_step_pre_hook``.
    """
    return _register(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after the step of every optimizer.

    Example:
        >>> import reftorch as torch
        >>> from reftorch.optim.optimizer import register_optimizer_step_post_hook
        >>> with register_optimizer_step_post_hook(lambda optimizer, args, kwargs: print("stepped")):
        ...     torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))]).step()
        stepped

    Mirrors torch/optim/optimizer.py, ``register_optimizer_step_post_hook``.
    """
    return _register(_global_optimizer_post_hooks, hook)


class Optimizer:
    """Holds parameters in groups and updates them by their gradients; a subclass defines the update in ``step``.

    Args:
        params: iterable of parameters, of pairs (name, parameter), or of dicts. Each dict is a group: its parameters
            are under ``"params"``, and its options under their names.
        defaults: dict of the options for groups that do not give their own.

    Raises:
        TypeError: ``params`` is a tensor or a set, or holds something other than tensors.
        ValueError: there are no parameters, one is not a leaf or is in two groups, or an option is missing.

    Example:
        >>> import reftorch as torch
        >>> class Descent(torch.optim.Optimizer):
        ...     def step(self):
        ...         with torch.no_grad():
        ...             for group in self.param_groups:
        ...                 for p in group["params"]:
        ...                     p.add_(p.grad, alpha=-group["lr"])
        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = Descent([w], {"lr": 0.5})
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w.item()
        0.0

    Mirrors torch/optim/optimizer.py, ``Optimizer``.
    """

    _optimizer_step_pre_hooks: OrderedDict[int, Callable]
    _optimizer_step_post_hooks: OrderedDict[int, Callable]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Callable]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Callable]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Callable]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Callable]

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        for name in _HOOKS:
            setattr(self, name, OrderedDict())
        self._patch_step_function()

        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                f"but got {typename(params)}"
            )
        self.state: defaultdict[Tensor, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        param_groups = list(params)
        if len(param_groups) == 0:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(param_groups[0], dict):
            param_groups = [{"params": param_groups}]
        for param_group in param_groups:
            self.add_param_group(param_group)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        self._patch_step_function()

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines.extend(f"    {key}: {group[key]}" for key in sorted(group) if key != "params")
        return "\n".join(lines) + "\n)"

    @staticmethod
    def profile_hook_step(func: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap ``step`` so that the hooks run before and after it."""

        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            self = args[0]
            for pre_hook in chain(_global_optimizer_pre_hooks.values(), self._optimizer_step_pre_hooks.values()):
                result = pre_hook(self, args, kwargs)
                if result is None:
                    continue
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError(
                        f"{func} must return None or a tuple of (new_args, new_kwargs), but got {result}."
                    )
                args, kwargs = result
            out = func(*args, **kwargs)
            for post_hook in chain(self._optimizer_step_post_hooks.values(), _global_optimizer_post_hooks.values()):
                post_hook(self, args, kwargs)
            return out

        return wrapper

    def _patch_step_function(self) -> None:
        # The class is patched once, so that the hooks run around any ``step`` that a subclass defines.
        cls = type(self)
        if not getattr(cls.step, "hooked", False):
            cls.step = self.profile_hook_step(cls.step)  # type: ignore[method-assign]
            cls.step.hooked = True  # type: ignore[attr-defined]

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before every step.

        Args:
            hook: returns None, or a pair of ``args`` (which includes the optimizer) and ``kwargs`` to use instead.

        Mirrors torch/optim/optimizer.py, ``Optimizer.register_step_pre_hook``.
        """
        return _register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after every step.

        Example:
            >>> import reftorch as torch
            >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))])
            >>> handle = optimizer.register_step_post_hook(lambda optimizer, args, kwargs: print("stepped"))
            >>> optimizer.step()
            stepped

        Mirrors torch/optim/optimizer.py, ``Optimizer.register_step_post_hook``.
        """
        return _register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., None], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` before the state is collected.

        Mirrors torch/optim/optimizer.py, ``Optimizer.register_state_dict_pre_hook``.
        """
        return _register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` on the collected state; a return value other than None replaces it.

        Example:
            >>> import reftorch as torch
            >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))])
            >>> handle = optimizer.register_state_dict_post_hook(lambda optimizer, state: {**state, "epoch": 3})
            >>> optimizer.state_dict()["epoch"]
            3

        Mirrors torch/optim/optimizer.py, ``Optimizer.register_state_dict_post_hook``.
        """
        return _register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before the state is loaded; a return value other than None replaces it.

        Mirrors torch/optim/optimizer.py, ``Optimizer.register_load_state_dict_pre_hook``.
        """
        return _register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., None], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` after a state is loaded.

        Mirrors torch/optim/optimizer.py, ``Optimizer.register_load_state_dict_post_hook``.
        """
        return _register(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    def state_dict(self) -> dict[str, Any]:
        """Return the state and the options as plain dicts, in which numbers stand for the parameters, in order.

        The tensors in the dicts are the optimizer's own, so a later step changes them too.

        Returns:
            ``{"state": {number: state}, "param_groups": [{"params": [number, ...], option: value, ...}, ...]}``

        Example:
            >>> import reftorch as torch
            >>> optimizer = torch.optim.SGD(torch.nn.Linear(2, 3).parameters(), lr=0.1)
            >>> optimizer.state_dict()["param_groups"][0]["params"]
            [0, 1]

        Mirrors torch/optim/optimizer.py, ``Optimizer.state_dict``.
        """
        for pre_hook in self._optimizer_state_dict_pre_hooks.values():
            pre_hook(self)
        numbers: dict[int, int] = {}
        packed_groups = []
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            packed = {key: value for key, value in group.items() if key != "params"}
            packed_groups.append({**packed, "params": [numbers[id(p)] for p in group["params"]]})
        packed_state = {numbers[id(k)] if isinstance(k, Tensor) else k: v for k, v in self.state.items()}

        state_dict = {"state": packed_state, "param_groups": packed_groups}
        for post_hook in self._optimizer_state_dict_post_hooks.values():
            hook_result = post_hook(self, state_dict)
            if hook_result is not None:
                state_dict = hook_result
        return state_dict

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the state and the options from a dict that :meth:`state_dict` returned.

        Parameters are matched by their order. Tensors of the state are cast to the dtype of their parameter.

        Args:
            state_dict: the dict; it must have as many groups as the optimizer, with as many parameters in each.

        Raises:
            ValueError: the number or the lengths of the groups differ.

        Example:
            >>> import reftorch as torch
            >>> w = torch.nn.Parameter(torch.zeros(1))
            >>> optimizer = torch.optim.SGD([w], lr=0.1)
            >>> optimizer.load_state_dict(torch.optim.SGD([w], lr=0.5).state_dict())
            >>> optimizer.param_groups[0]["lr"]
            0.5

        Mirrors torch/optim/optimizer.py, ``Optimizer.load_state_dict``.
        """
        state_dict = state_dict.copy()
        for pre_hook in self._optimizer_load_state_dict_pre_hooks.values():
            hook_result = pre_hook(self, state_dict)
            if hook_result is not None:
                state_dict = hook_result

        groups = self.param_groups
        saved_groups = deepcopy(state_dict["param_groups"])
        if len(groups) != len(saved_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(group["params"]) != len(saved["params"]) for group, saved in zip(groups, saved_groups, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )

        params: dict[int, Tensor] = {}
        for group, saved in zip(groups, saved_groups, strict=True):
            params.update(zip(saved["params"], group["params"], strict=True))
            saved["params"] = group["params"]
            if "param_names" in group:
                saved.setdefault("param_names", group["param_names"])
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in params:
                state[params[key]] = _cast(params[key], value)
            else:
                state[key] = value

        self.__setstate__({"state": state, "param_groups": saved_groups})
        for post_hook in self._optimizer_load_state_dict_post_hooks.values():
            post_hook(self)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters.

        Args:
            set_to_none: False fills them with zeros instead; ``step`` then still updates a parameter without new
                gradient.

        Example:
            >>> import reftorch as torch
            >>> w = torch.nn.Parameter(torch.ones(2))
            >>> optimizer = torch.optim.SGD([w], lr=0.1)
            >>> w.sum().backward()
            >>> optimizer.zero_grad()
            >>> w.grad is None
            True

        Mirrors torch/optim/optimizer.py, ``Optimizer.zero_grad``.
        """
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p.grad = None
                elif p.grad is not None:
                    if p.grad.grad_fn is not None:
                        p.grad = p.grad.detach()
                    p.grad.requires_grad_(False)
                    p.grad.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters once.

        Args:
            closure: computes the loss and its gradients again, and returns the loss.

        Returns:
            The return value of the closure, or None.

        Mirrors torch/optim/optimizer.py, ``Optimizer.step``.
        """
        raise NotImplementedError

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters, such as layers that are trained from now on.

        Args:
            param_group: dict with the parameters under ``"params"``, and options that differ from the defaults.

        Raises:
            TypeError: the group is not a dict, or its parameters are a set or hold something other than tensors.
            ValueError: a parameter is not a leaf or is in another group, or an option is missing.

        Example:
            >>> import reftorch as torch
            >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
            >>> optimizer.add_param_group({"params": torch.nn.Parameter(torch.zeros(2)), "lr": 0.01})
            >>> [group["lr"] for group in optimizer.param_groups]
            [0.1, 0.01]

        Mirrors torch/optim/optimizer.py, ``Optimizer.add_param_group``.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [param[0] for param in params if isinstance(param, tuple)]
        if names and len(names) != len(params):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        if names:
            params = [param for _, param in params]
            param_group["param_names"] = names
        param_group["params"] = params

        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + typename(param))
            if not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)

        if len(params) != len(set(params)):
            warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
            )
        for group in self.param_groups:
            if ("param_names" in param_group) != ("param_names" in group):
                kind = "with names" if "param_names" in param_group else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. "
                    f"cannot add param group {kind} to the optimizer"
                )
            if not set(group["params"]).isdisjoint(params):
                raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)


def _cast(param: Tensor, value: Any, key: str | None = None) -> Any:
    """Cast a loaded value of the state to the dtype of its parameter; ``step`` is a count and is not cast."""
    if isinstance(value, Tensor):
        if key == "step":
            return value
        return value.to(param.dtype) if param.is_floating_point() else value
    if isinstance(value, dict):
        return {k: _cast(param, v, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return type(value)(_cast(param, v) for v in value)  # type: ignore[call-arg]
    return value
