"""The base class of every layer and network.

Mirrors: torch/nn/modules/module.py
Leaves out: the deprecated backward hooks, ``compile``, ``share_memory``, ``cuda`` and similar methods.

PyTorch has the whole class in one file of three thousand lines. Here several files make up the class: this file
registers parameters, buffers and submodules, ``tree`` walks through them, ``conversion`` converts them, ``state_dict``
saves and loads them, ``hooks`` runs the hooks around ``forward``, and ``backward_hooks`` those of backward passes.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reftorch._tensor import Tensor
from reftorch._utils import typename
from reftorch.nn.modules.module.backward_hooks import (
    _closer_look,
    _look_closer_at,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from reftorch.nn.modules.module.conversion import ModuleConversion
from reftorch.nn.modules.module.hooks import (
    ForwardHooks,
    register_module_forward_hook,
    register_module_forward_pre_hook,
)
from reftorch.nn.modules.module.registration_hooks import (
    _global_buffer_registration_hooks,
    _global_module_registration_hooks,
    _global_parameter_registration_hooks,
    _run,
    register_module_buffer_registration_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from reftorch.nn.modules.module.registry import Registry
from reftorch.nn.modules.module.state_dict import ModuleState
from reftorch.nn.modules.module.tree import ModuleTree
from reftorch.nn.parameter import Buffer, Parameter

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Module",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

_REGISTRIES = ("_parameters", "_buffers", "_modules")
_HOOKS = (
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_backward_hooks",
    "_backward_pre_hooks",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


class Module(ForwardHooks, ModuleState, ModuleConversion, ModuleTree):
    """A network or a layer: parameters, buffers and submodules, and a ``forward`` that computes with them.

    Assigning a :class:`Parameter`, a :class:`Buffer` or a module to an attribute registers it: ``parameters()`` finds
    it, ``to()`` converts it, ``state_dict()`` saves it. A subclass calls ``super().__init__()`` before any assignment.

    Example:
        >>> import reftorch as torch
        >>> class Scale(torch.nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.factor = torch.nn.Parameter(torch.tensor(2.0))
        ...     def forward(self, input):
        ...         return input * self.factor
        >>> Scale()(torch.ones(2))
        tensor([2., 2.], grad_fn=<MulBackward0>)
        >>> [name for name, _ in Scale().named_parameters()]
        ['factor']

    Mirrors torch/nn/modules/module.py, ``Module``.
    """

    training: bool
    call_super_init: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and kwargs:
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
            )
        if not self.call_super_init and args:
            raise TypeError(
                f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
            )
        state = self.__dict__
        state["training"] = True
        state["_non_persistent_buffers_set"] = set()
        owner = weakref.ref(self)
        for name in _REGISTRIES:
            state[name] = Registry(owner)
        for name in _HOOKS:
            state[name] = OrderedDict()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; every subclass overrides this method. Call the module itself, so that hooks run."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _closer_look or self._forward_pre_hooks or self._forward_hooks:  # see Note [Calls without hooks]
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs) if kwargs else self.forward(*args)  # an empty **kwargs builds a dict

    # Registration

    def _check_name(self, kind: str, name: str, registry: Registry) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in registry:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Register a parameter under a name, which also becomes an attribute.

        Args:
            name: a new name, without dots.
            param: the parameter; None registers the name without a value.

        Raises:
            AttributeError: ``Module.__init__`` has not run.
            KeyError: the name is in use, is empty or has a dot.
            TypeError: ``param`` is not a Parameter.
            ValueError: ``param`` is not a leaf.

        Example:
            >>> import reftorch as torch
            >>> module = torch.nn.Module()
            >>> module.register_parameter("scale", torch.nn.Parameter(torch.ones(1)))
            >>> module.scale
            Parameter containing:
            tensor([1.], requires_grad=True)

        Mirrors torch/nn/modules/module.py, ``Module.register_parameter``.
        """
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. "
                f"To express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        if param is not None:
            param = _run(_global_parameter_registration_hooks, self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Register a buffer under a name, which also becomes an attribute. A buffer is state that is not trained.

        Args:
            name: a new name, without dots.
            tensor: the buffer; None registers the name without a value.
            persistent: whether the buffer is part of ``state_dict()``.

        Raises:
            AttributeError: ``Module.__init__`` has not run.
            KeyError: the name is in use, is empty or has a dot.
            TypeError: ``tensor`` is not a tensor.

        Example:
            >>> import reftorch as torch
            >>> module = torch.nn.Module()
            >>> module.register_buffer("running_mean", torch.zeros(2))
            >>> module.running_mean
            tensor([0., 0.])

        Mirrors torch/nn/modules/module.py, ``Module.register_buffer``.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = _run(_global_buffer_registration_hooks, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Register a submodule under a name, which also becomes an attribute.

        Args:
            name: a new name, without dots.
            module: the submodule; None registers the name without a value.

        Raises:
            KeyError: the name is in use, is empty or has a dot.
            TypeError: ``module`` is not a module.

        Example:
            >>> import reftorch as torch
            >>> net = torch.nn.Sequential()
            >>> net.add_module("act", torch.nn.ReLU())
            >>> net.act
            ReLU()

        Mirrors torch/nn/modules/module.py, ``Module.add_module``.
        """
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", name, self._modules)
        self._modules[name] = _run(_global_module_registration_hooks, self, name, module)

    register_module = add_module

    def __getattr__(self, name: str) -> Any:
        # Python calls this only if __dict__ lacks the name: if a class restored its __dict__ by hand (see Registry).
        for registry in _REGISTRIES:
            entries = self.__dict__.get(registry, ())
            if name in entries:
                return entries[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        state = self.__dict__
        params, modules, buffers = state.get("_parameters"), state.get("_modules"), state.get("_buffers")
        if isinstance(value, Tensor) and isinstance(value, Parameter):
            if params is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, keep=params)
            self.register_parameter(name, value)
        elif params is not None and name in params:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            params[name] = None
        elif isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, keep=modules)
            modules[name] = _run(_global_module_registration_hooks, self, name, value)
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            modules[name] = _run(_global_module_registration_hooks, self, name, None)
        elif isinstance(value, Tensor) and isinstance(value, Buffer):
            self.register_buffer(name, value, value.persistent)
        elif buffers is not None and name in buffers:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{typename(value)}' as buffer '{name}' "
                    "(torch.nn.Buffer, torch.Tensor or None expected)"
                )
            buffers[name] = _run(_global_buffer_registration_hooks, self, name, value)
        elif name in _REGISTRIES:
            self._replace_registry(name, value)
        else:
            super().__setattr__(name, value)

    def _forget(self, name: str, keep: Registry) -> None:
        """Remove the name from everything but the registry ``keep``, so that ``keep`` can use it."""
        for registry in (self._parameters, self._buffers, self._modules):
            if registry is not keep:
                registry.pop(name, None)
        if name not in keep:
            self.__dict__.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _replace_registry(self, name: str, entries: dict[str, Any]) -> None:
        if name in self.__dict__:
            self.__dict__[name].clear()
        self.__dict__[name] = Registry(weakref.ref(self), entries)

    def __delattr__(self, name: str) -> None:
        for registry in (self._parameters, self._buffers, self._modules):
            if name in registry:
                del registry[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __getstate__(self) -> dict[str, Any]:
        mirrored = {key for name in _REGISTRIES for key in self.__dict__[name]}
        state = {key: value for key, value in self.__dict__.items() if key not in mirrored}
        state.update({name: dict(state[name]) for name in _REGISTRIES})
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in _REGISTRIES:
            self.__dict__[name] = Registry(weakref.ref(self), state[name])
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        _look_closer_at(self)

    # Training

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Call ``fn`` on every submodule, then on the module itself. Return the module.

        Example:
            >>> import reftorch as torch
            >>> net = torch.nn.Sequential(torch.nn.ReLU())
            >>> _ = net.apply(lambda module: print(type(module).__name__))
            ReLU
            Sequential

        Mirrors torch/nn/modules/module.py, ``Module.apply``.
        """
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set training mode for the module and its submodules: some layers depend on it. Return the module.

        Args:
            mode: True for training, False for evaluation.

        Raises:
            ValueError: ``mode`` is not a bool.

        Example:
            >>> import reftorch as torch
            >>> torch.nn.Sequential(torch.nn.ReLU()).train(False)[0].training
            False

        Mirrors torch/nn/modules/module.py, ``Module.train``.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set evaluation mode: ``train(False)``."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set ``requires_grad`` of every parameter. Return the module.

        Example:
            >>> import reftorch as torch
            >>> torch.nn.Linear(2, 3).requires_grad_(False).weight.requires_grad
            False

        Mirrors torch/nn/modules/module.py, ``Module.requires_grad_``.
        """
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters.

        Args:
            set_to_none: False fills them with zeros instead.

        Mirrors torch/nn/modules/module.py, ``Module.zero_grad``.
        """
        for p in self.parameters():
            if p.grad is None:
                continue
            if set_to_none:
                p.grad = None
                continue
            if p.grad.grad_fn is not None:
                p.grad = p.grad.detach()
            p.grad.requires_grad_(False)
            p.grad.zero_()

    # Text

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """Return the options that ``repr(module)`` shows; subclasses override this method."""
        return ""

    def __repr__(self) -> str:
        extra_lines = self.extra_repr().split("\n") if self.extra_repr() else []
        child_lines = [f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()]
        if not child_lines and len(extra_lines) <= 1:
            return f"{self._get_name()}({''.join(extra_lines)})"
        return f"{self._get_name()}(\n  " + "\n  ".join(extra_lines + child_lines) + "\n)"

    def __dir__(self) -> list[str]:
        return sorted(name for name in {*dir(type(self)), *self.__dict__} if not name[0].isdigit())


def _addindent(text: str, spaces: int) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * spaces + line if line.strip() else "" for line in rest)])
