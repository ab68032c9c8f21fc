"""Modules that learn the shapes of their parameters from their first input.

Mirrors: torch/nn/modules/lazy.py
"""

from __future__ import annotations

import itertools
from typing import Any

from reftorch.autograd.grad_mode import no_grad
from reftorch.nn.parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Makes a module lazy: its parameters have no shapes until the first call, which supplies an input.

    A lazy class inherits from the mixin first and from the ordinary class second. Its ``__init__`` makes
    :class:`UninitializedParameter` objects, and its ``initialize_parameters(input)`` gives them shapes. Before the
    first forward pass, a hook calls that method, and the module becomes an object of ``cls_to_become``.

    Convert a network with lazy modules to its dtype and device first, call it once, then create the optimizer.

    Example:
        >>> net = torch.nn.Sequential(torch.nn.LazyLinear(3), torch.nn.ReLU())
        >>> net
        Sequential(
          (0): LazyLinear(in_features=0, out_features=3, bias=True)
          (1): ReLU()
        )
        >>> net(torch.ones(2, 5)).shape
        torch.Size([2, 3])
        >>> net[0]
        Linear(in_features=5, out_features=3, bias=True)

    Mirrors torch/nn/modules/lazy.py, ``LazyModuleMixin``.
    """

    cls_to_become: type[Any] | None = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self: Any, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        # A lazy tensor cannot be detached, so the dict holds the tensor itself.
        for name, tensor in self._persistent_state().items():
            destination[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()

    def _lazy_load_hook(
        self: Any,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Give each lazy parameter the shape of the tensor that is loaded into it."""
        for name, param in itertools.chain(self._parameters.items(), self._buffers.items()):
            key = prefix + name
            if is_lazy(param) and key in state_dict and not is_lazy(state_dict[key]):
                with no_grad():
                    param.materialize(state_dict[key].shape)

    def initialize_parameters(self: Any, *args: Any, **kwargs: Any) -> None:
        """Give the lazy parameters their shapes and values, from the arguments of ``forward``."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self: Any) -> bool:
        """Return whether the module has parameters or buffers without shapes."""
        return any(is_lazy(param) for param in itertools.chain(self._parameters.values(), self._buffers.values()))

    def _infer_parameters(self: Any, module: Any, args: tuple, kwargs: dict[str, Any] | None = None) -> None:
        """The hook that runs before the first forward pass."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        delattr(module, "_initialize_hook")
        delattr(module, "_load_hook")
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self: Any) -> Any:
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy forward pass to "
            "correctly initialize the modules"
        )
