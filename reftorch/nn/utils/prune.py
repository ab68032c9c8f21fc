r"""Pruning: parts of a parameter are set to zero by a mask before each forward pass.

A pruned parameter ``weight`` becomes the parameter ``weight_orig`` and the buffer ``weight_mask``; a hook computes
their product, ``weight``, before each forward pass. Further methods prune what earlier ones have left.

Mirrors: torch/nn/utils/prune.py

The file is more than 500 lines long, because it has seven methods, each as a class and a function.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch.nn.utils.convert_parameters import parameters_to_vector

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


class BasePruningMethod(ABC):
    """The base class of pruning methods. A subclass says in ``PRUNING_TYPE`` what it prunes, and computes a mask.

    ``PRUNING_TYPE`` is ``"unstructured"`` for single elements, ``"structured"`` for channels along ``self.dim``, or
    ``"global"`` for a method that is given the whole tensor, with its mask.

    Mirrors torch/nn/utils/prune.py, ``BasePruningMethod``.
    """

    _tensor_name: str
    PRUNING_TYPE: str

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask of ones and zeros.

        Args:
            t: the importance of each element.
            default_mask: the mask so far.
        """

    def apply_mask(self, module: Any) -> Tensor:
        """Return the original tensor times its mask.

        Raises:
            AssertionError: the method was applied to nothing yet.
        """
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, self._tensor_name + "_mask")
        orig = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=orig.dtype) * orig

    @classmethod
    def _combined(cls, module: Any, name: str, *args: Any, **kwargs: Any) -> BasePruningMethod:
        """Return the method, in a container with the methods that pruned the tensor before; remove their hook."""
        found = [
            key
            for key, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        if len(found) > 1:
            raise AssertionError(
                f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a "
                "PruningContainer."
            )
        old = [module._forward_pre_hooks.pop(key) for key in found]
        method = cls(*args, **kwargs)
        method._tensor_name = name
        if not old:
            return method
        container = old[0] if isinstance(old[0], PruningContainer) else PruningContainer(old[0])
        container.add_pruning_method(method)
        return container

    @classmethod
    def apply(
        cls, module: Any, name: str, *args: Any, importance_scores: Tensor | None = None, **kwargs: Any
    ) -> BasePruningMethod:
        """Prune a parameter of a module.

        Args:
            module: the module.
            name: the name of the parameter.
            args, kwargs: the arguments of the method.
            importance_scores: the importance of each element; None means the parameter itself.

        Returns:
            The method, or the container in which it is.

        Raises:
            AssertionError: ``importance_scores`` has another shape.
        """
        method = cls._combined(module, name, *args, **kwargs)
        orig = getattr(module, name)
        if importance_scores is None:
            importance_scores = orig
        elif importance_scores.shape != orig.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, got "
                f"{importance_scores.shape} vs {orig.shape}"
            )
        first = not isinstance(method, PruningContainer)
        if first:
            module.register_parameter(name + "_orig", orig)
            del module._parameters[name]
            default_mask = _VF.ones_like(orig)
        else:
            default_mask = getattr(module, name + "_mask").detach().clone(memory_format=_C.contiguous_format)
        try:
            mask = method.compute_mask(importance_scores, default_mask=default_mask)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if first:
                module.register_parameter(name, getattr(module, name + "_orig"))
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """Return a pruned copy of a tensor.

        Args:
            t: the tensor.
            default_mask: the mask so far; None means ones.
            importance_scores: the importance of each element; None means ``t``.

        Raises:
            AssertionError: ``importance_scores`` has another shape.

        Example:
            >>> torch.nn.utils.prune.L1Unstructured(amount=2).prune(torch.tensor([3.0, -1.0, 0.5, 2.0]))
            tensor([3., -0., 0., 2.])
        """
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as tensor t, got {importance_scores.shape} vs {t.shape}"
            )
        mask = default_mask if default_mask is not None else _VF.ones_like(t)
        return t * self.compute_mask(importance_scores, default_mask=mask)

    def remove(self, module: Any) -> None:
        """Make the pruned parameter an ordinary one again, which keeps its zeros.

        Raises:
            AssertionError: the method was applied to nothing yet.
        """
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, self._tensor_name):
            delattr(module, self._tensor_name)
        orig = module._parameters[self._tensor_name + "_orig"]
        orig.data = weight.data
        del module._parameters[self._tensor_name + "_orig"]
        del module._buffers[self._tensor_name + "_mask"]
        setattr(module, self._tensor_name, orig)


class PruningContainer(BasePruningMethod):
    """Several methods that prune one tensor one after another.

    Args:
        args: the methods.

    Mirrors torch/nn/utils/prune.py, ``PruningContainer``.
    """

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method, which prunes what the others have left.

        Raises:
            TypeError: ``method`` is not a pruning method.
            ValueError: ``method`` prunes another tensor.
        """
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer "
                f"{self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods = (*self._pruning_methods, method)  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Apply the last method to what is left of the tensor."""
        method = self._pruning_methods[-1]
        left = _left(method, t, default_mask)
        mask = default_mask.to(dtype=t.dtype)
        mask[left] = method.compute_mask(t[left], default_mask=default_mask[left]).to(dtype=mask.dtype)
        return mask


def _left(method: Any, t: Tensor, mask: Tensor) -> Any:
    """Return the index of what a further method may prune: the elements, or channels, that are not pruned yet."""
    kind, ndim = method.PRUNING_TYPE, t.dim()
    if kind == "unstructured":
        return mask == 1
    if kind == "global":
        return (slice(None),) * ndim
    if kind != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
    if not hasattr(method, "dim"):
        raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
    dim = method.dim + ndim if method.dim < 0 else method.dim
    if dim < 0:
        raise IndexError(f"Index is out of bounds for tensor with dimensions {ndim}")
    channels = mask.sum(dim=[d for d in range(ndim) if d != dim]) != 0
    return tuple(channels if d == dim else slice(None) for d in range(ndim))


class Identity(BasePruningMethod):
    """Prune nothing, but add a mask of ones.

    Mirrors torch/nn/utils/prune.py, ``Identity``.
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask

    @classmethod
    def apply(cls, module: Any, name: str) -> BasePruningMethod:  # type: ignore[override]
        return super().apply(module, name)


class _Amount(BasePruningMethod):
    """The base class of methods that prune an amount: a number of units, or a part of them from 0.0 to 1.0."""

    def __init__(self, amount: Any) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _count(self, units: int) -> int:
        """Return how many of the units are pruned."""
        count = _compute_nparams_toprune(self.amount, units)
        _validate_pruning_amount(count, units)
        return count


class RandomUnstructured(_Amount):
    """Prune elements at random.

    Args:
        amount: the number of elements, or their part from 0.0 to 1.0.

    Mirrors torch/nn/utils/prune.py, ``RandomUnstructured``.
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = self._count(t.nelement())
        mask = default_mask.clone(memory_format=_C.contiguous_format)
        if count != 0:
            mask.view(-1)[_VF.rand_like(t).view(-1).topk(count).indices] = 0
        return mask

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any) -> BasePruningMethod:  # type: ignore[override]
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Amount):
    """Prune the elements with the smallest absolute values.

    Args:
        amount: the number of elements, or their part from 0.0 to 1.0.

    Mirrors torch/nn/utils/prune.py, ``L1Unstructured``.
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = self._count(t.nelement())
        mask = default_mask.clone(memory_format=_C.contiguous_format)
        if count != 0:
            mask.view(-1)[t.abs().view(-1).topk(count, largest=False).indices] = 0
        return mask

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Any, name: str, amount: Any, importance_scores: Tensor | None = None
    ) -> BasePruningMethod:
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


def _channel_mask(t: Tensor, dim: int, channels: Tensor) -> Tensor:
    """Return a mask with ones in some channels along a dimension."""
    mask = _VF.zeros_like(t)
    index: list[Any] = [slice(None)] * t.dim()
    index[dim] = channels
    mask[tuple(index)] = 1
    return mask


class RandomStructured(_Amount):
    """Prune whole channels at random.

    Args:
        amount: the number of channels, or their part from 0.0 to 1.0.
        dim: the dimension of the channels.

    Mirrors torch/nn/utils/prune.py, ``RandomStructured``.
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        size = t.shape[self.dim]
        count = self._count(size)
        if count == 0:
            return default_mask
        draws = _VF.rand(size)
        mask = _channel_mask(t, self.dim, draws > draws.kthvalue(count).values)
        return mask.mul_(default_mask.to(dtype=mask.dtype))

    @classmethod
    def apply(cls, module: Any, name: str, amount: Any, dim: int = -1) -> BasePruningMethod:  # type: ignore[override]
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Amount):
    """Prune the channels with the smallest norms.

    Args:
        amount: the number of channels, or their part from 0.0 to 1.0.
        n: the order of the norm, such as 1, 2, ``math.inf`` or ``"fro"``.
        dim: the dimension of the channels.

    Mirrors torch/nn/utils/prune.py, ``LnStructured``.
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.n = n
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        size = t.shape[self.dim]
        count = self._count(size)
        kept = _compute_norm(t, self.n, self.dim).topk(size - count).indices
        if count == 0:
            return default_mask
        mask = _channel_mask(t, self.dim, kept)
        return mask.mul_(default_mask.to(dtype=mask.dtype))

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None
    ) -> BasePruningMethod:
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prune by a mask that is given.

    Args:
        mask: ones and zeros, of the shape of the tensor.

    Mirrors torch/nn/utils/prune.py, ``CustomFromMask``.
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Any, name: str, mask: Tensor) -> BasePruningMethod:  # type: ignore[override]
        return super().apply(module, name, mask=mask)


def identity(module: Any, name: str) -> Any:
    """Prune nothing, but add a mask of ones to a parameter. Return the module.

    Mirrors torch/nn/utils/prune.py, ``identity``.
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune elements of a parameter at random. Return the module.

    Args:
        module: the module.
        name: the name of the parameter.
        amount: the number of elements, or their part from 0.0 to 1.0.

    Example:
        >>> layer = torch.nn.utils.prune.random_unstructured(torch.nn.Linear(2, 3), "weight", amount=1)
        >>> (layer.weight_mask == 0).sum()
        tensor(1)

    Mirrors torch/nn/utils/prune.py, ``random_unstructured``.
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Tensor | None = None) -> Any:
    """Prune the elements of a parameter with the smallest absolute values. Return the module.

    Args:
        module: the module.
        name: the name of the parameter.
        amount: the number of elements, or their part from 0.0 to 1.0.
        importance_scores: the importance of each element; None means the parameter itself.

    Example:
        >>> layer = torch.nn.utils.prune.l1_unstructured(torch.nn.Linear(2, 3), "weight", amount=0.5)
        >>> sorted(layer.state_dict())
        ['bias', 'weight_mask', 'weight_orig']

    Mirrors torch/nn/utils/prune.py, ``l1_unstructured``.
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune whole channels of a parameter at random. Return the module.

    Args:
        module: the module.
        name: the name of the parameter.
        amount: the number of channels, or their part from 0.0 to 1.0.
        dim: the dimension of the channels.

    Mirrors torch/nn/utils/prune.py, ``random_structured``.
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Any:
    """Prune the channels of a parameter with the smallest norms. Return the module.

    Args:
        module: the module.
        name: the name of the parameter.
        amount: the number of channels, or their part from 0.0 to 1.0.
        n: the order of the norm.
        dim: the dimension of the channels.
        importance_scores: the importance of each element; None means the parameter itself.

    Mirrors torch/nn/utils/prune.py, ``ln_structured``.
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: dict[Any, Tensor] | None = None, **kwargs: Any
) -> None:
    """Prune elements of several parameters together, by one method that sees all their elements.

    Args:
        parameters: pairs of module and name.
        pruning_method: the class of an unstructured method.
        importance_scores: the importance of the elements, by pairs of module and name; None means the parameters.
        kwargs: the arguments of the method, such as ``amount``.

    Raises:
        TypeError: ``parameters`` is not iterable, ``importance_scores`` is not a dict, or the method is not
            unstructured.

    Example:
        >>> from reftorch.nn.utils import prune
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Linear(4, 2))
        >>> prune.global_unstructured([(net[0], "weight"), (net[1], "weight")], prune.L1Unstructured, amount=6)
        >>> sum((layer.weight == 0).sum() for layer in net)
        tensor(6)

    Mirrors torch/nn/utils/prune.py, ``global_unstructured``.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = importance_scores if importance_scores is not None else {}
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    parameters = list(parameters)
    tensors = [getattr(module, name) for module, name in parameters]
    importance = parameters_to_vector(
        [scores.get((module, name), t) for (module, name), t in zip(parameters, tensors, strict=True)]
    )
    default_mask = parameters_to_vector(
        [
            getattr(module, name + "_mask", _VF.ones_like(t))
            for (module, name), t in zip(parameters, tensors, strict=True)
        ]
    )
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of '
            f"type {method.PRUNING_TYPE}"
        )
    method._tensor_name = "temp"
    final_mask = PruningContainer(method).compute_mask(importance, default_mask)
    start = 0
    for (module, name), t in zip(parameters, tensors, strict=True):
        custom_from_mask(module, name, mask=final_mask[start : start + t.numel()].view_as(t))
        start += t.numel()


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """Prune a parameter by a mask. Return the module.

    Args:
        module: the module.
        name: the name of the parameter.
        mask: ones and zeros, of the shape of the parameter.

    Example:
        >>> layer = torch.nn.utils.prune.custom_from_mask(torch.nn.Linear(2, 2), "bias", torch.tensor([0, 1]))
        >>> layer.bias_mask
        tensor([0., 1.])

    Mirrors torch/nn/utils/prune.py, ``custom_from_mask``.
    """
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Any, name: str) -> Any:
    """Make a pruned parameter an ordinary one again, which keeps its zeros. Return the module.

    Raises:
        ValueError: the parameter is not pruned.

    Mirrors torch/nn/utils/prune.py, ``remove``.
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Any) -> bool:
    """Return whether a module or one of its submodules is pruned.

    Example:
        >>> torch.nn.utils.prune.is_pruned(torch.nn.Linear(2, 2))
        False

    Mirrors torch/nn/utils/prune.py, ``is_pruned``.
    """
    return any(
        isinstance(hook, BasePruningMethod)
        for submodule in module.modules()
        for hook in submodule._forward_pre_hooks.values()
    )


def _validate_pruning_amount_init(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    low, high = (0, float("inf")) if isinstance(amount, numbers.Integral) else (0.0, 1.0)
    if not low <= amount <= high:  # type: ignore[operator]
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    if amount > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _validate_structured_pruning(t: Tensor) -> None:
    if t.dim() <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
            f"{t.shape} with {t.dim()} dims"
        )


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    return int(amount) if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _validate_pruning_dim(t: Tensor, dim: int) -> None:
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_norm(t: Tensor, n: Any, dim: int) -> Tensor:
    """Return the norm of each channel."""
    dims = list(range(t.dim()))
    dims.remove(dims[dim])
    return t.norm(p=n, dim=dims)
