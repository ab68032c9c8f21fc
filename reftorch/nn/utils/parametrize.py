"""Parametrizations: a parameter or buffer that is a function of other tensors, which are the ones that are trained.

Mirrors: torch/nn/utils/parametrize.py
Leaves out: swapping tensors, opaque objects, calls while TorchScript traces.

Note [A class for each parametrized module]
    Problem: ``module.weight`` shall call the parametrization at each read, but a property belongs to a class, and other
    modules of this class shall keep their ordinary weight.
    Trick: the module gets a class of its own, a subclass of its class with the property ``weight``. The original
    tensors are parameters of the submodule ``module.parametrizations.weight``.
"""

from __future__ import annotations

import copyreg
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from typing import Any

from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import no_grad
from reftorch.nn.modules.container import ModuleDict, ModuleList
from reftorch.nn.modules.module import Module
from reftorch.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_cache_enabled = 0
_cache: dict[tuple[int, str], Tensor] = {}


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor once inside the block, and not at each read.

    This helps modules that read a weight many times in a forward pass, such as recurrent cells.

    Example:
        >>> from reftorch.nn.utils import parametrizations, parametrize
        >>> layer = parametrizations.weight_norm(torch.nn.Linear(2, 3))
        >>> with parametrize.cached():
        ...     layer.weight is layer.weight
        True

    Mirrors torch/nn/utils/parametrize.py, ``cached``.
    """
    global _cache_enabled
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache.clear()


def _register_parameter_or_buffer(module: Module, name: str, X: Tensor) -> None:
    if isinstance(X, Parameter):
        module.register_parameter(name, X)
    else:
        module.register_buffer(name, X)


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, applied one after another, and the original tensors.

    The originals are ``original``, or ``original0``, ``original1`` and so on if ``right_inverse`` of the first
    parametrization returns several tensors.

    Args:
        modules: the parametrizations.
        original: the parameter or buffer.
        unsafe: whether the result may have another shape or dtype.

    Raises:
        ValueError: ``modules`` is empty, ``right_inverse`` does not return tensors or changes dtype or device, or (if
            not ``unsafe``) the result has another shape or dtype.

    Mirrors torch/nn/utils/parametrize.py, ``ParametrizationList``.
    """

    original: Tensor
    unsafe: bool

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        original_shape, original_dtype = original.shape, original.dtype
        with no_grad():
            new: Any = original
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    # Without an inverse, and where it is not implemented, the identity takes its place.
                    with suppress(NotImplementedError):
                        new = module.right_inverse(new)
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                f"Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if isinstance(new, Tensor):
            self._register_original(original, new)
        else:
            self._register_originals(original, new)
        if not self.unsafe:
            self._check_result(original_shape, original_dtype)

    def _register_original(self, original: Tensor, new: Any) -> None:
        """Give the original the new value; it stays the same object, so an optimizer that has it continues."""
        for what in ("dtype", "device"):
            if getattr(original, what) != getattr(new, what):
                raise ValueError(
                    f"When `right_inverse` outputs one tensor, it may not change the {what}.\n"
                    f"original.{what}: {getattr(original, what)}\n"
                    f"right_inverse(original).{what}: {getattr(new, what)}"
                )
        with no_grad():
            original.set_(new)
        _register_parameter_or_buffer(self, "original", original)

    def _register_originals(self, original: Tensor, new: Sequence[Any]) -> None:
        for i, value in enumerate(new):
            if not isinstance(value, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                    f"Got element {i} of the sequence with type {type(value).__name__}."
                )
            if isinstance(original, Parameter):
                value = Parameter(value, original.requires_grad)
            value.requires_grad_(original.requires_grad)
            _register_parameter_or_buffer(self, f"original{i}", value)

    def _check_result(self, shape: Any, dtype: Any) -> None:
        result = self()
        if not isinstance(result, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
        for what, expected in (("dtype", dtype), ("shape", shape)):
            if getattr(result, what) != expected:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                    f"enabled.\nunparametrized {what}: {expected}\nparametrized {what}: {getattr(result, what)}"
                )

    def _originals(self) -> list[Any]:
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Give the originals such values that the parametrized tensor gets a value: the inverse of ``forward``.

        Args:
            value: the value, as it is assigned to the parametrized attribute.

        Raises:
            RuntimeError: a parametrization has no ``right_inverse``.
            ValueError: ``right_inverse`` does not return as many tensors of the same dtypes as before.
        """
        with no_grad():
            new: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                new = module.right_inverse(new)
            if self.is_tensor:
                if not isinstance(new, Tensor):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {type(new).__name__}")
                if new.dtype != self.original.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {new.dtype} while `original` has dtype "
                        f"{self.original.dtype}"
                    )
                self.original.set_(new)
            else:
                self._set_originals(new)

    def _set_originals(self, new: Any) -> None:
        if not isinstance(new, Sequence):
            raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(new).__name__}.")
        if len(new) != self.ntensors:
            raise ValueError(
                "'right_inverse' must return a sequence of tensors of length "
                f"{self.ntensors}. Got a sequence of length {len(new)}."
            )
        for i, (tensor, original) in enumerate(zip(new, self._originals(), strict=True)):
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors or reference-type opaques. Got element "
                    f"{i} of type {type(tensor).__name__}."
                )
            if original.dtype != tensor.dtype:
                raise ValueError(
                    f"Tensor {i} returned by `right_inverse` has dtype {tensor.dtype} while `original{i}` has dtype "
                    f"{original.dtype}"
                )
            original.set_(tensor)

    def forward(self) -> Tensor:
        """Return the parametrized tensor."""
        first, *others = list(self)
        x = first(self.original) if self.is_tensor else first(*self._originals())
        for module in others:
            x = module(x)
        return x


def _inject_new_class(module: Module) -> None:
    """Give the module a class of its own: see Note [A class for each parametrized module]."""
    cls = type(module)

    def default_deepcopy(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        replica = self.__new__(type(self))
        memo[id(self)] = replica
        replica.__dict__ = deepcopy(self.__dict__, memo)
        for slot in copyreg._slotnames(type(self)):  # type: ignore[attr-defined]
            if hasattr(self, slot):
                setattr(replica, slot, deepcopy(getattr(self, slot), memo))
        return replica

    def getstate(self: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See:\n"
            "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
            "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
        )

    members: dict[str, Any] = {"__getstate__": getstate}
    if not hasattr(cls, "__deepcopy__"):  # deepcopy would call __getstate__
        members["__deepcopy__"] = default_deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def _inject_property(module: Module, tensor_name: str) -> None:
    """Add the property that computes the tensor to the class of the module."""
    if hasattr(module, tensor_name):
        raise AssertionError(f"Module already has an attribute named '{tensor_name}'")

    def get_parametrized(self: Any) -> Tensor:
        parametrization = self.parametrizations[tensor_name]
        if not _cache_enabled:
            return parametrization()
        key = (id(module), tensor_name)
        if key not in _cache:
            _cache[key] = parametrization()
        return _cache[key]

    def set_original(self: Any, value: Tensor) -> None:
        self.parametrizations[tensor_name].right_inverse(value)

    setattr(type(module), tensor_name, property(get_parametrized, set_original))


def _check_next(module: Any, tensor_name: str, parametrization: Any) -> None:
    """Check that a further parametrization keeps shape and dtype of the tensor, and its inverse too."""
    Y = getattr(module, tensor_name)
    X = parametrization(Y)
    if not isinstance(X, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(X).__name__}.")
    for what in ("dtype", "shape"):
        if getattr(X, what) != getattr(Y, what):
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` flag is "
                f"enabled.\nmodule.{tensor_name}.{what}: {getattr(Y, what)}\n"
                f"parametrization(module.{tensor_name}).{what}: {getattr(X, what)}"
            )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        Z = parametrization.right_inverse(X)
    except NotImplementedError:
        return
    if not isinstance(Z, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(Z).__name__}")
    for what in ("dtype", "shape"):
        if getattr(Z, what) != getattr(Y, what):
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as "
                f"module.{tensor_name}, unless the `unsafe` flag is enabled.\n"
                f"module.{tensor_name}.{what}: {getattr(Y, what)}\nreturned {what}: {getattr(Z, what)}"
            )


def register_parametrization(module: Any, tensor_name: str, parametrization: Any, *, unsafe: bool = False) -> Module:
    """Make a parameter or buffer of a module a function of an original tensor, which becomes the parameter.

    ``module.weight`` then returns ``parametrization(original)`` at each read. Several parametrizations of one tensor
    are applied in the order of their registration. If the parametrization has a method ``right_inverse``, it computes
    the original from the present value and from values that are assigned to the attribute; if ``right_inverse`` returns
    several tensors, these are the arguments of the parametrization.

    Args:
        module: the module.
        tensor_name: the name of the parameter or buffer.
        parametrization: a module with the tensor as argument.
        unsafe: whether the result may have another shape or dtype.

    Returns:
        The module.

    Raises:
        ValueError: nothing has this name, or shape or dtype would change.

    Example:
        >>> from reftorch.nn.utils import parametrize
        >>> class Symmetric(torch.nn.Module):
        ...     def forward(self, x):
        ...         return x.triu() + x.triu(1).mT
        >>> layer = parametrize.register_parametrization(torch.nn.Linear(3, 3), "weight", Symmetric())
        >>> torch.equal(layer.weight, layer.weight.mT)
        True
        >>> [name for name, _ in layer.named_parameters()]
        ['bias', 'parametrizations.weight.original']

    Mirrors torch/nn/utils/parametrize.py, ``register_parametrization``.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_next(module, tensor_name, parametrization)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        parametrizations = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_new_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Return whether a module has a parametrized tensor, or one with the given name.

    Args:
        module: the module.
        tensor_name: a name, or None for any tensor.

    Example:
        >>> torch.nn.utils.parametrize.is_parametrized(torch.nn.Linear(2, 3))
        False

    Mirrors torch/nn/utils/parametrize.py, ``is_parametrized``.
    """
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a parametrized tensor an ordinary one again.

    Args:
        module: the module.
        tensor_name: the name of the tensor.
        leave_parametrized: whether the tensor keeps its parametrized value; otherwise it gets its original value.

    Returns:
        The module.

    Raises:
        ValueError: the tensor is not parametrized, or has several originals and ``leave_parametrized`` is False.

    Example:
        >>> from reftorch.nn.utils import parametrizations, parametrize
        >>> layer = parametrizations.weight_norm(torch.nn.Linear(2, 3))
        >>> parametrize.remove_parametrizations(layer, "weight")
        Linear(in_features=2, out_features=3, bias=True)

    Mirrors torch/nn/utils/parametrize.py, ``remove_parametrizations``.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            with no_grad():
                original.set_(getattr(module, tensor_name))  # the same object, for the optimizer
    elif leave_parametrized:
        t = getattr(module, tensor_name)
        original = Parameter(t) if t.requires_grad else t
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register_parameter_or_buffer(module, tensor_name, original)
    if not is_parametrized(module):
        del module.parametrizations
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """Return the class of a module, without the class of its own that a parametrized module has.

    Example:
        >>> from reftorch.nn.utils import parametrizations, parametrize
        >>> layer = parametrizations.weight_norm(torch.nn.Linear(2, 3))
        >>> type(layer).__name__, parametrize.type_before_parametrizations(layer).__name__
        ('ParametrizedLinear', 'Linear')

    Mirrors torch/nn/utils/parametrize.py, ``type_before_parametrizations``.
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Any, to_module: Any, tensor_name: str | None = None) -> Module:
    """Register the parametrizations of one module at another one, which then shares the original tensors.

    Args:
        from_module: the module with the parametrizations.
        to_module: the other module.
        tensor_name: the name of one tensor, or None for all.

    Returns:
        ``to_module``.

    Mirrors torch/nn/utils/parametrize.py, ``transfer_parametrizations_and_params``.
    """
    if not is_parametrized(from_module):
        return to_module
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        source = from_module.parametrizations[name]
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        for original in ("original",) if source.is_tensor else [f"original{i}" for i in range(source.ntensors)]:
            setattr(to_module.parametrizations[name], original, getattr(source, original))
    return to_module
