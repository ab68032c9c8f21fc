"""The old place of :func:`reftorch.func.functional_call`.

Mirrors: torch/nn/utils/stateless.py, torch/nn/utils/_named_member_accessor.py

The work is done in reftorch/_functorch/functional_call.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reftorch._functorch.functional_call import functional_call as _functional_call
from reftorch._warnings import warn

if TYPE_CHECKING:
    from reftorch import Tensor
    from reftorch.nn.modules.module import Module

__all__ = ["functional_call"]


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """The old name of :func:`reftorch.func.functional_call`; a call gives a FutureWarning.

    Args:
        module, args, kwargs, tie_weights, strict: see the new function.
        parameters_and_buffers: tensors by name, in one dict.

    Example:
        >>> import warnings
        >>> from reftorch.nn.utils import stateless
        >>> parameters = {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     stateless.functional_call(torch.nn.Linear(2, 1), parameters, torch.tensor([1.0, 2.0]))
        tensor([3.])

    Mirrors torch/nn/utils/stateless.py, ``functional_call``.
    """
    warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
    )
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
