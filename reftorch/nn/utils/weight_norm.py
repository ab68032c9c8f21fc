r"""Weight norm as a hook: a weight is computed from its length and its direction before each forward pass.

The weight is :math:`w = g \, v / \|v\|`, where the norm is taken over all dimensions but one.

Mirrors: torch/nn/utils/weight_norm.py

New programs use ``reftorch.nn.utils.parametrizations.weight_norm``.
"""

from __future__ import annotations

from typing import Any, TypeVar

from reftorch import _VF
from reftorch._warnings import warn
from reftorch.nn.parameter import Parameter, UninitializedParameter

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]

T_module = TypeVar("T_module", bound=Any)


class WeightNorm:
    """The hook that computes the weight ``name`` of a module from ``name_g`` and ``name_v``.

    Args:
        name: the name of the weight.
        dim: the dimension that keeps its lengths; -1 or None for one length of the whole weight.

    Mirrors torch/nn/utils/weight_norm.py, ``WeightNorm``.
    """

    name: str
    dim: int

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        """Return the weight."""
        return _VF._weight_norm(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int) -> WeightNorm:
        """Replace the weight of the module by two parameters, and register the hook."""
        warn(
            "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
            FutureWarning,
        )
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        fn = WeightNorm(name, dim)
        weight = getattr(module, name)
        if isinstance(weight, UninitializedParameter):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying weight normalization"
            )
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(_VF.norm_except_dim(weight, 2, fn.dim).data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, fn.compute_weight(module))
        module.register_forward_pre_hook(fn)
        return fn

    def remove(self, module: Any) -> None:
        """Make the present weight an ordinary parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: T_module, name: str = "weight", dim: int = 0) -> T_module:
    r"""Compute a weight from its length and its direction, :math:`w = g \, v / \|v\|`. A call gives a FutureWarning.

    Args:
        module: the module, which gets the parameters ``name_g`` and ``name_v`` in place of ``name``.
        name: the name of the weight.
        dim: the dimension that keeps its lengths; None for one length of the whole weight.

    Returns:
        The module.

    Raises:
        RuntimeError: the weight has this hook already.
        ValueError: the weight has no shape yet.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     layer = torch.nn.utils.weight_norm(torch.nn.Linear(20, 40))
        >>> layer.weight_g.shape, layer.weight_v.shape
        (torch.Size([40, 1]), torch.Size([40, 20]))

    Mirrors torch/nn/utils/weight_norm.py, ``weight_norm``.
    """
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: T_module, name: str = "weight") -> T_module:
    """Undo :func:`weight_norm`.

    Args:
        module: the module.
        name: the name of the weight.

    Raises:
        ValueError: the weight has no such hook.

    Mirrors torch/nn/utils/weight_norm.py, ``remove_weight_norm``.
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
