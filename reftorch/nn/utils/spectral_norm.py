r"""Spectral norm as a hook: a weight is divided by its largest singular value before each forward pass.

The power method estimates the singular value. The vectors :math:`u \leftarrow W v / \|W v\|` and
:math:`v \leftarrow W^T u / \|W^T u\|` approach the singular vectors, and :math:`\sigma = u^T W v`. One iteration before
each forward pass is enough, because weights change slowly.

Mirrors: torch/nn/utils/spectral_norm.py

New programs use ``reftorch.nn.utils.parametrizations.spectral_norm``.
"""

from __future__ import annotations

from typing import Any, TypeVar

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import no_grad
from reftorch.nn import functional as F
from reftorch.nn.parameter import Parameter, UninitializedParameter

__all__ = [
    "SpectralNorm",
    "SpectralNormLoadStateDictPreHook",
    "SpectralNormStateDictHook",
    "remove_spectral_norm",
    "spectral_norm",
]

T_module = TypeVar("T_module", bound=Any)


class SpectralNorm:
    """The hook that computes the weight ``name`` of a module from ``name_orig``, ``name_u`` and ``name_v``.

    Args:
        name: the name of the weight.
        n_power_iterations: the number of iterations before each forward pass in training.
        dim: the dimension of the outputs.
        eps: avoids a division by zero.

    Raises:
        ValueError: ``n_power_iterations`` is not positive.

    Mirrors torch/nn/utils/spectral_norm.py, ``SpectralNorm``.
    """

    _version: int = 1  # of the state dict: since version 1, v is a buffer

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """Return the weight as a matrix whose rows belong to the outputs."""
        return weight.movedim(self.dim, 0).reshape(weight.size(self.dim), -1)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Tensor:
        """Return the weight divided by its norm, after iterations that update the two buffers in place."""
        weight, u, v = (getattr(module, self.name + suffix) for suffix in ("_orig", "_u", "_v"))
        weight_mat = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v = F.normalize(_VF.mv(weight_mat.t(), u), dim=0, eps=self.eps, out=v)
                    u = F.normalize(_VF.mv(weight_mat, v), dim=0, eps=self.eps, out=u)
                # The backward pass of this call needs these values, but the next call changes the buffers.
                u = u.clone(memory_format=_C.contiguous_format)
                v = v.clone(memory_format=_C.contiguous_format)
        return weight / _VF.dot(u, _VF.mv(weight_mat, v))

    def remove(self, module: Any) -> None:
        """Make the present weight an ordinary parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for suffix in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def _solve_v_and_rescale(self, weight_mat: Tensor, u: Tensor, target_sigma: Tensor) -> Tensor:
        """Return v such that u is the direction of W v and u^T W v is the given norm; W^T W may be singular."""
        gram = weight_mat.t().mm(weight_mat)
        v = gram.pinverse().mm(weight_mat.t()).mv(u)
        return v.mul_(target_sigma / _VF.dot(u, _VF.mv(weight_mat, v)))

    @staticmethod
    def apply(module: Any, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Replace the weight of the module by ``name_orig`` and two buffers, and register the hooks."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        fn = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if isinstance(weight, UninitializedParameter):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying spectral normalization"
            )
        with no_grad():
            h, w = fn.reshape_weight_to_matrix(weight).size()
            u = F.normalize(weight.new_empty(h).normal_(0, 1), dim=0, eps=fn.eps)
            v = F.normalize(weight.new_empty(w).normal_(0, 1), dim=0, eps=fn.eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)  # a plain attribute, because functions that draw weights look for the name
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(fn)
        module._register_state_dict_hook(SpectralNormStateDictHook(fn))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(fn))
        return fn


class SpectralNormLoadStateDictPreHook:
    """The hook that computes v for a state dict of version 0, which has the weight instead.

    Mirrors torch/nn/utils/spectral_norm.py, ``SpectralNormLoadStateDictPreHook``.
    """

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        fn, key = self.fn, prefix + self.fn.name
        version = local_metadata.get("spectral_norm", {}).get(fn.name + ".version", None)
        if version is not None and version >= 1:
            return
        if version is None and key not in state_dict and all(key + s in state_dict for s in ("_orig", "_u", "_v")):
            return  # a state dict of version 1 whose metadata was lost
        missing = [key + suffix for suffix in ("_orig", "", "_u") if key + suffix not in state_dict]
        if missing:
            missing_keys.extend(missing if strict else [])
            return
        with no_grad():
            weight_orig, weight = state_dict[key + "_orig"], state_dict.pop(key)
            sigma = (weight_orig / weight).mean()
            matrix = fn.reshape_weight_to_matrix(weight_orig)
            state_dict[key + "_v"] = fn._solve_v_and_rescale(matrix, state_dict[key + "_u"], sigma)


class SpectralNormStateDictHook:
    """The hook that writes the version of the hook into the metadata of a state dict.

    Mirrors torch/nn/utils/spectral_norm.py, ``SpectralNormStateDictHook``.
    """

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Any, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any]) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


def spectral_norm(
    module: T_module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> T_module:
    r"""Divide a weight by its largest singular value before each forward pass: :math:`W / \sigma(W)`.

    Args:
        module: the module, which gets the parameter ``name_orig`` and the buffers ``name_u`` and ``name_v``.
        name: the name of the weight.
        n_power_iterations: the number of iterations before each forward pass in training.
        eps: avoids a division by zero.
        dim: the dimension of the outputs; None means 1 for transposed convolutions and 0 for other modules.

    Returns:
        The module.

    Raises:
        ValueError: ``n_power_iterations`` is not positive, or the weight is None or has no shape yet.
        RuntimeError: the weight has this hook already.

    Example:
        >>> layer = torch.nn.utils.spectral_norm(torch.nn.Linear(20, 40))
        >>> layer.weight_u.shape, layer.weight_v.shape
        (torch.Size([40]), torch.Size([20]))

    Mirrors torch/nn/utils/spectral_norm.py, ``spectral_norm``.
    """
    if dim is None:
        dim = 1 if getattr(module, "transposed", False) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: T_module, name: str = "weight") -> T_module:
    """Undo :func:`spectral_norm`.

    Args:
        module: the module.
        name: the name of the weight.

    Raises:
        ValueError: the weight has no such hook.

    Mirrors torch/nn/utils/spectral_norm.py, ``remove_spectral_norm``.
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for hooks in (module._state_dict_hooks, module._load_state_dict_pre_hooks):
        for key, hook in hooks.items():
            fn = getattr(getattr(hook, "hook", hook), "fn", None)  # a hook may be wrapped
            if isinstance(fn, SpectralNorm) and fn.name == name:
                del hooks[key]
                break
    return module
