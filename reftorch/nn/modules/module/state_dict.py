"""Saving a module's state as a flat dict, and loading it.

Mirrors: torch/nn/modules/module.py, ``state_dict``, ``load_state_dict`` and their hooks of ``Module``
Leaves out: loading by swapping tensors.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any

from reftorch import _C
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.autograd.grad_mode import no_grad
from reftorch.nn.parameter import Parameter, is_lazy
from reftorch.utils.hooks import RemovableHandle

__all__ = ["ModuleState"]

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class _WrappedHook:
    """A hook that is called with its module, to which it holds a weak reference; or without, if none is given.

    Files contain the state, so it has PyTorch's form.

    Mirrors torch/nn/modules/module.py, ``_WrappedHook``.
    """

    def __init__(self, hook: Callable, module: Any = None) -> None:
        self.hook = hook
        self.with_module = module is not None
        if module is not None:
            self.module = weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        state = {"hook": self.hook, "with_module": self.with_module}
        return {**state, "module": self.module()} if self.with_module else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook, self.with_module = state["hook"], state["with_module"]
        if self.with_module:
            if state["module"] is None:
                raise RuntimeError("You are trying to revive the hook of a dead Module!")
            self.module = weakref.ref(state["module"])


class ModuleState:
    """The part of ``Module`` that saves and loads its state."""

    _version: int = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: OrderedDict[int, Callable]
    _state_dict_pre_hooks: OrderedDict[int, Callable]
    _load_state_dict_pre_hooks: OrderedDict[int, Callable]
    _load_state_dict_post_hooks: OrderedDict[int, Callable]

    def get_extra_state(self) -> Any:
        """Return more state for the ``state_dict`` than parameters and buffers; subclasses override this method.

        Example:
            >>> class Epoch(torch.nn.Module):
            ...     def get_extra_state(self):
            ...         return 3
            >>> list(Epoch().state_dict().items())
            [('_extra_state', 3)]

        Mirrors torch/nn/modules/module.py, ``Module.get_extra_state``.
        """
        raise RuntimeError("Module.get_extra_state was called, but the module does not override it.")

    def set_extra_state(self, state: Any) -> None:
        """Load the state that ``get_extra_state`` returned; subclasses override this method.

        Mirrors torch/nn/modules/module.py, ``Module.set_extra_state``.
        """
        raise RuntimeError("Module.set_extra_state was called, but the module does not override it.")

    def register_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before the state of the module is collected.

        Mirrors torch/nn/modules/module.py, ``Module.register_state_dict_pre_hook``.
        """
        return _register(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` on the collected state, which it edits in place.

        Example:
            >>> layer = torch.nn.Linear(2, 3)
            >>> handle = layer.register_state_dict_post_hook(lambda m, state_dict, prefix, metadata: state_dict.clear())
            >>> len(layer.state_dict())
            0

        Mirrors torch/nn/modules/module.py, ``Module.register_state_dict_post_hook``.
        """
        hook._from_public_api = True  # type: ignore[attr-defined]  # PyTorch's mark: files contain the hooks
        return _register(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Register a hook like :meth:`register_state_dict_post_hook`, but one that may return another dict.

        That dict replaces the result if ``state_dict`` was called on this module itself.
        """
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return _register(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call a hook before the state is loaded; the hook may edit the dict and the lists of problems.

        Args:
            hook: ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                error_msgs) -> None``

        Mirrors torch/nn/modules/module.py, ``Module.register_load_state_dict_pre_hook``.
        """
        return _register(self._load_state_dict_pre_hooks, _WrappedHook(hook, self))

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., None], with_module: bool = False
    ) -> RemovableHandle:
        """Register a hook as :meth:`register_load_state_dict_pre_hook` does, by default without ``module``."""
        return _register(self._load_state_dict_pre_hooks, _WrappedHook(hook, self) if with_module else hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after the state is loaded; it edits the two lists of keys in place.

        Example:
            >>> layer = torch.nn.Linear(2, 3)
            >>> handle = layer.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
            >>> layer.load_state_dict({})
            <All keys matched successfully>

        Mirrors torch/nn/modules/module.py, ``Module.register_load_state_dict_post_hook``.
        """
        return _register(self._load_state_dict_post_hooks, hook)

    def _persistent_state(self) -> dict[str, Tensor]:
        state = {name: param for name, param in self._parameters.items() if param is not None}
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                state[name] = buffer
        return state

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Add the module's own state, without its submodules' state; a subclass may override this method."""
        for name, tensor in self._persistent_state().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not ModuleState.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def state_dict(
        self, *args: Any, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Return a dict from dotted names to parameters and persistent buffers.

        The tensors share their storage with the module, so a later step of the optimizer changes them too.

        Args:
            args: ``destination``, ``prefix`` and ``keep_vars`` by position, which gives a FutureWarning.
            destination: dict to fill; None makes a new one.
            prefix: a string to put before every name.
            keep_vars: return the parameters themselves instead of detached tensors.

        Example:
            >>> list(torch.nn.Linear(2, 3).state_dict())
            ['weight', 'bias']

        Mirrors torch/nn/modules/module.py, ``Module.state_dict``.
        """
        if args:
            warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
            )
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()  # type: ignore[attr-defined]
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata

        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            result = hook(self, destination, prefix, local_metadata)
            if result is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = result
        return destination

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load the module's own state, without its submodules' state; a subclass may override this method."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

        own_state = self._persistent_state()
        for name, param in own_state.items():
            key = prefix + name
            if key not in state_dict:
                missing_keys.extend([key] if strict else [])
                continue
            error = self._load_tensor(name, param, key, state_dict[key], local_metadata.get("assign_to_params_buffers"))
            error_msgs.extend([error] if error else [])

        extra_key = prefix + _EXTRA_STATE_KEY_SUFFIX
        takes_extra = type(self).set_extra_state is not ModuleState.set_extra_state
        if takes_extra and extra_key in state_dict:
            self.set_extra_state(state_dict[extra_key])
        elif strict and takes_extra:
            missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)

        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra_key:
                    name, *below = key[len(prefix) :].split(".", 1)
                    if name not in (self._modules if below else own_state):
                        unexpected_keys.append(key)

    def _load_tensor(self, name: str, param: Tensor, key: str, source: Any, assign: bool | None) -> str | None:
        """Load one tensor; return an error message, or None if there was no error."""
        if not isinstance(source, Tensor):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(source)}{_C._other_library_hint(source)}"
            )
        # A lazy parameter of a module that is not lazy has no shape to compare; copy_ raises the error below.
        if not is_lazy(param) and param.dim() == 0 and tuple(source.shape) == (1,):
            source = source[0]  # checkpoints older than 0-dim tensors
        if not is_lazy(param) and source.shape != param.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {source.shape} from checkpoint, "
                f"the shape in current model is {param.shape}."
            )
        if param.is_meta and not source.is_meta and not assign:
            warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current "
                "model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary "
                "to their corresponding key in the module instead of copying them in place?)"
            )
        try:
            with no_grad():
                if not assign:
                    param.copy_(source)
                elif not isinstance(param, Parameter):
                    setattr(self, name, source)
                elif isinstance(source, Parameter):
                    setattr(self, name, source.requires_grad_(param.requires_grad))
                else:
                    setattr(self, name, Parameter(source, param.requires_grad))
        except Exception as error:
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are {param.size()} '
                f"and whose dimensions in the checkpoint are {source.size()}, an exception occurred : {error.args}."
            )
        return None

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copy parameters and buffers from a dict made by :meth:`state_dict`.

        Args:
            state_dict: dict from dotted names to tensors with the shapes of the parameters.
            strict: whether the keys must be exactly those of the module's own ``state_dict``.
            assign: use the given tensors themselves (with the old ``requires_grad``), instead of copying their values.

        Returns:
            A named tuple of two lists, ``missing_keys`` and ``unexpected_keys``.

        Raises:
            TypeError: ``state_dict`` is not a mapping.
            RuntimeError: a shape differs, a value is not a tensor, or (if strict) keys are missing or unexpected.

        Example:
            >>> one, other = torch.nn.Linear(2, 3), torch.nn.Linear(2, 3)
            >>> other.load_state_dict(one.state_dict())
            <All keys matched successfully>

        Mirrors torch/nn/modules/module.py, ``Module.load_state_dict``.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing_keys: list[str] = []
        unexpected_keys: list[str] = []
        error_msgs: list[str] = []
        metadata = getattr(state_dict, "_metadata", {})
        incompatible_keys = _IncompatibleKeys(missing_keys, unexpected_keys)

        def load(module: Any, state: dict[str, Any], prefix: str = "") -> None:
            local_metadata = dict(metadata.get(prefix[:-1], {}))
            if assign:
                local_metadata["assign_to_params_buffers"] = True
            module._load_from_state_dict(state, prefix, local_metadata, True, missing_keys, unexpected_keys, error_msgs)
            for name, child in module._modules.items():
                if child is not None:
                    child_prefix = prefix + name + "."
                    load(child, {k: v for k, v in state.items() if k.startswith(child_prefix)}, child_prefix)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, incompatible_keys) is not None:
                    raise AssertionError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                        "values, if incompatible_keys need to be modified, it should be done inplace."
                    )

        state: Any = OrderedDict(state_dict)  # hooks may change the copy
        if hasattr(state_dict, "_metadata"):
            state._metadata = metadata
        load(self, state)
        if strict:
            for kind, keys in (("Unexpected", unexpected_keys), ("Missing", missing_keys)):
                if keys:
                    quoted = ", ".join(f'"{key}"' for key in keys)
                    error_msgs.insert(0, f"{kind} key(s) in state_dict: {quoted}. ")
        if error_msgs:
            details = "\n\t".join(error_msgs)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{details}")
        return incompatible_keys


def _register(hooks: OrderedDict[int, Callable], hook: Callable) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle
