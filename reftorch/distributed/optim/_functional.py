"""Optimizers that are given the gradients, one parameter at a time, in place of reading ``.grad``.

Mirrors: torch/distributed/optim/functional_adadelta.py, torch/distributed/optim/functional_adagrad.py,
torch/distributed/optim/functional_adam.py, torch/distributed/optim/functional_adamax.py,
torch/distributed/optim/functional_adamw.py, torch/distributed/optim/functional_rmsprop.py,
torch/distributed/optim/functional_rprop.py, torch/distributed/optim/functional_sgd.py
Leaves out: TorchScript, for which PyTorch writes each optimizer a second time. Here the optimizers of
``reftorch.optim`` do the work, one for each parameter. In PyTorch, three of the eight have ``step_param``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reftorch.optim.adadelta import Adadelta
from reftorch.optim.adagrad import Adagrad
from reftorch.optim.adam import Adam
from reftorch.optim.adamax import Adamax
from reftorch.optim.adamw import AdamW
from reftorch.optim.rmsprop import RMSprop
from reftorch.optim.rprop import Rprop
from reftorch.optim.sgd import SGD

__all__: list[str] = []


class _FunctionalOptimizer:
    """An optimizer whose ``step`` is given the gradients.

    Args:
        params: the parameters for :meth:`step`; :meth:`step_param` takes any parameter.
        args: arguments of the optimizer after the parameters.
        kwargs: arguments of the optimizer by name.

    Raises:
        ValueError: the list is empty, unless ``_allow_empty_param_list`` is True.
    """

    optimizer_class: Any = None

    def __init__(self, params: Sequence[Any], *args: Any, _allow_empty_param_list: bool = False, **kwargs: Any) -> None:
        if not params and not _allow_empty_param_list:
            raise ValueError("optimizer got an empty parameter list")
        self.param_group = {"params": params}
        self._arguments = (args, kwargs)
        self._optimizers: dict[Any, Any] = {}

    @property
    def state(self) -> dict[Any, Any]:
        """What the optimizer remembers of each parameter."""
        return {parameter: optimizer.state[parameter] for parameter, optimizer in self._optimizers.items()}

    def step_param(self, param: Any, grad: Any) -> None:
        """Change one parameter.

        Args:
            param: the parameter. Its ``.grad`` stays as it is.
            grad: the gradient; None changes nothing.
        """
        if param not in self._optimizers:
            args, kwargs = self._arguments
            self._optimizers[param] = self.optimizer_class([param], *args, **kwargs)
        kept, param.grad = param.grad, grad
        try:
            self._optimizers[param].step()
        finally:
            param.grad = kept

    def step(self, gradients: Sequence[Any]) -> None:
        """Change all parameters.

        Args:
            gradients: one for each parameter; None leaves the parameter as it is.

        Raises:
            ValueError: there are not as many gradients as parameters.
        """
        params = self.param_group["params"]
        if len(params) != len(gradients):
            raise ValueError(
                "the gradients passed in does not equal to the size of the parameters!"
                f"Params length: {len(params)}. Gradients length: {len(gradients)}"
            )
        for param, grad in zip(params, gradients, strict=True):
            if grad is not None:
                self.step_param(param, grad)


class _FunctionalAdadelta(_FunctionalOptimizer):
    optimizer_class = Adadelta


class _FunctionalAdagrad(_FunctionalOptimizer):
    optimizer_class = Adagrad


class _FunctionalAdam(_FunctionalOptimizer):
    optimizer_class = Adam


class _FunctionalAdamax(_FunctionalOptimizer):
    optimizer_class = Adamax


class _FunctionalAdamW(_FunctionalOptimizer):
    optimizer_class = AdamW


class _FunctionalRMSprop(_FunctionalOptimizer):
    optimizer_class = RMSprop


class _FunctionalRprop(_FunctionalOptimizer):
    optimizer_class = Rprop


class _FunctionalSGD(_FunctionalOptimizer):
    optimizer_class = SGD
