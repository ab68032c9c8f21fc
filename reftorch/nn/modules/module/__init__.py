"""The base class of every layer and network.

Mirrors: torch/nn/modules/module.py
Leaves out: ``compile``, which raises an error, and calls while TorchScript traces.

PyTorch has the whole class in one file of three thousand lines. Here several files make up the class: this file
registers parameters, buffers and submodules, ``tree`` walks through them, ``conversion`` converts them, ``state_dict``
saves and loads them, ``hooks`` runs the hooks around ``forward``, and ``backward_hooks`` those of backward passes.

Note [Registries]
    A module has three dicts, its registries: ``_parameters``, ``_buffers`` and ``_modules``. A registered value is only
    there, and not in ``module.__dict__``, so that a value is never in two places that could differ.
    ``__setattr__`` puts a parameter, a buffer or a module into its registry. ``__getattr__`` finds the value: Python
    calls ``__getattr__`` only for a name that neither ``__dict__`` nor the class has, so a read of ``self.training``
    does not pay for the search. A read of ``self.weight`` does: it takes some 300 ns instead of 20 ns, most of which
    Python spends on the AttributeError that it raises and drops before it calls ``__getattr__``.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reftorch import _C, _places
from reftorch._tensor import Tensor
from reftorch._utils import typename
from reftorch._warnings import warn
from reftorch.compiler import compile
from reftorch.nn.modules.module.backward_hooks import (
    _closer_look,
    _look_closer_at,
    register_module_backward_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from reftorch.nn.modules.module.conversion import ModuleConversion
from reftorch.nn.modules.module.hooks import (
    ForwardHooks,
    HookModule,
    _forward_unimplemented,
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
from reftorch.nn.modules.module.state_dict import ModuleState
from reftorch.nn.modules.module.tree import ModuleTree
from reftorch.nn.parameter import Buffer, Parameter

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Module",
    "register_module_backward_hook",
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
    dump_patches: bool = False
    _is_replica: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and kwargs:
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
            )
        if not self.call_super_init and args:
            raise TypeError(
                f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
            )
        # These assignments do not pass through __setattr__, which would search the registries.
        state = self.__dict__
        state["training"] = True
        state["_non_persistent_buffers_set"] = set()
        state["_is_full_backward_hook"] = None
        for name in _REGISTRIES:
            state[name] = {}
        for name in _HOOKS:
            state[name] = OrderedDict()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # It is an attribute and no method, so that a type checker accepts any signature in a subclass.
    forward: Callable[..., Any] = _forward_unimplemented

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _closer_look or self._forward_pre_hooks or self._forward_hooks:  # see Note [Calls without hooks]
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs) if kwargs else self.forward(*args)  # an empty **kwargs builds a dict

    # Registration

    def _check_name(self, kind: str, name: str, registry: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if name not in registry and hasattr(self, name):
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
                + _C._other_library_hint(param)
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
            >>> module = torch.nn.Module()
            >>> module.register_buffer("running_mean", torch.zeros(2))
            >>> module.running_mean
            tensor([0., 0.])

        Mirrors torch/nn/modules/module.py, ``Module.register_buffer``.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not _is_tensor_like(tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
                + _C._other_library_hint(tensor)
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
            >>> net = torch.nn.Sequential()
            >>> net.add_module("act", torch.nn.ReLU())
            >>> net.act
            ReLU()

        Mirrors torch/nn/modules/module.py, ``Module.add_module``.
        """
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass{_C._other_library_hint(module)}")
        self._check_name("module", name, self._modules)
        self._modules[name] = _run(_global_module_registration_hooks, self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """Register a submodule: another name of :meth:`add_module`."""
        self.add_module(name, module)

    # Attributes: see Note [Registries]

    def __getattr__(self, name: str) -> Any:
        # The registries are missing while a subclass assigns before it calls super().__init__().
        state = self.__dict__
        if "_parameters" in state and name in (entries := state["_parameters"]):
            return entries[name]
        if "_buffers" in state and name in (entries := state["_buffers"]):
            return entries[name]
        if "_modules" in state and name in (entries := state["_modules"]):
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
                    + _C._other_library_hint(value)
                )
            self.register_parameter(name, value)
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
            modules[name] = _run(_global_module_registration_hooks, self, name, value)
        elif (isinstance(value, Tensor) and isinstance(value, Buffer)) or (buffers is not None and name in buffers):
            if value is not None and not _is_tensor_like(value):
                raise TypeError(
                    f"cannot assign '{typename(value)}' as buffer '{name}' "
                    f"(torch.nn.Buffer, torch.Tensor or None expected){_C._other_library_hint(value)}"
                )
            self._set_buffer(name, value)
        else:
            super().__setattr__(name, value)

    def _set_buffer(self, name: str, value: Any) -> None:
        """Assign a buffer to a name; a plain tensor keeps whether the buffer was persistent."""
        is_buffer = isinstance(value, Tensor) and isinstance(value, Buffer)
        persistent = value.persistent if is_buffer else name not in self._non_persistent_buffers_set
        overridden = type(self).register_buffer is not Module.register_buffer
        if not overridden or "persistent" in inspect.signature(self.register_buffer).parameters:
            self.register_buffer(name, value, persistent)
        elif persistent:
            self.register_buffer(name, value)
        else:
            raise RuntimeError(
                "Registering a non-persistent buffer on a Module subclass that implements register_buffer() without "
                "the persistent argument is not allowed."
            )

    def _forget(self, name: str, keep: dict[str, Any]) -> None:
        """Remove the name from everything but the registry ``keep``, so that ``keep`` can use it."""
        for entries in (self.__dict__, self._parameters, self._buffers, self._modules):
            if entries is not keep:
                entries.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name: str) -> None:
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            super().__delattr__(name)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        # A module that an older version saved may lack dicts of hooks.
        for name in _HOOKS:
            self.__dict__.setdefault(name, OrderedDict())
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        self.__dict__.setdefault("_is_full_backward_hook", None)
        _look_closer_at(self)

    def _replicate_for_data_parallel(self) -> Self:
        """Return a copy that shares everything but the dicts, and has no parameters of its own."""
        replica = self.__new__(type(self))
        replica.__dict__ = self.__dict__.copy()
        replica._parameters = {}
        replica._buffers = replica._buffers.copy()
        replica._modules = replica._modules.copy()
        replica._is_replica = True
        return replica

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Warn once that nothing is compiled; the module runs as it is.

        Mirrors torch/nn/modules/module.py, ``Module.compile``.
        """
        compile(self, *args, **kwargs)

    # Training

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Call ``fn`` on every submodule, then on the module itself. Return the module.

        Example:
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
        if getattr(self, "_is_replica", False):
            warn(
                "Calling .zero_grad() from a module created with nn.DataParallel() has no effect. The parameters are "
                "copied (in a differentiable manner) from the original module. This means they are not leaf nodes in "
                "autograd and so don't accumulate gradients. If you need gradients in your forward method, consider "
                "using autograd.grad instead."
            )
        for p in self.parameters():
            if p.grad is None:
                continue
            if set_to_none:
                p.grad = None
                continue
            if p.grad.grad_fn is not None:
                p.grad.detach_()
            else:
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
        registered = [name for registry in _REGISTRIES for name in getattr(self, registry)]
        names = [*dir(type(self)), *self.__dict__, *registered]
        return sorted(name for name in names if not name[0].isdigit())


def _is_tensor_like(value: Any) -> bool:
    if isinstance(value, Tensor):
        return True
    return hasattr(value, "__torch_function__") and not _C._other_library_hint(value)  # PyTorch's tensors have one


def _addindent(text: str, spaces: int) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * spaces + line if line.strip() else "" for line in rest)])


_places.split(__name__, Module, kind=HookModule)
