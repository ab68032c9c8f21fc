"""The program that is diagnosed: a model, a batch, a loss, and the steps of the user; and how to leave it untouched.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
Left out: state outside the model and the optimizer, such as schedulers, data loaders and Python attributes of modules.
"""

from __future__ import annotations

import contextlib
import copy
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reftorch import _C
from reftorch.autograd.grad_mode import enable_grad, no_grad
from reftorch.debug.common.expect import described, expect_number
from reftorch.optim.adam import Adam
from reftorch.random import get_rng_state, manual_seed, set_rng_state
from reftorch.utils._pytree import tree_leaves, tree_map


@dataclass
class Program:
    """A model and what the user does with it. ``batch`` is (inputs, target), or the inputs if the model computes the
    loss itself."""

    model: Any
    batch: Any
    loss_fn: Callable | None
    optimizer: Any
    train_step: Callable | None
    eval_step: Callable | None
    frozen: tuple[str, ...]
    batch_dim: int
    steps: int

    @property
    def inputs(self) -> Any:
        return self.batch[0] if self.loss_fn is not None else self.batch

    @property
    def target(self) -> Any:
        return self.batch[1] if self.loss_fn is not None else None

    @property
    def batch_size(self) -> int:
        return next(t.shape[self.batch_dim] for t in tree_leaves(self.inputs) if self.has_samples(t))

    def has_samples(self, value: Any) -> bool:
        return isinstance(value, _C.TensorBase) and value.dim() > self.batch_dim

    def call(self, inputs: Any) -> Any:
        """Call the model: a tuple holds positional arguments, a mapping keyword arguments."""
        if isinstance(inputs, Mapping):
            return self.model(**inputs)
        return self.model(*inputs) if isinstance(inputs, (tuple, list)) else self.model(inputs)

    def loss(self, batch: Any = None) -> Any:
        """Return the loss of a batch, by default of the given one."""
        batch = self.batch if batch is None else batch
        if self.loss_fn is None:
            return loss_in(self.call(batch))
        return self.loss_of(self.call(batch[0]), batch[1])

    def loss_of(self, output: Any, target: Any) -> Any:
        assert self.loss_fn is not None
        loss = self.loss_fn(output, target)
        expect_number("diagnose", loss)
        return loss

    def trained(self) -> dict[str, Any]:
        """Return the parameters that require a gradient, by name."""
        return {name: p for name, p in self.model.named_parameters() if p.requires_grad}

    def is_frozen(self, name: str) -> bool:
        """Return whether the user declared the parameter or the module as frozen."""
        return any(name == prefix or name.startswith(f"{prefix}.") for prefix in self.frozen)

    def one_step(self, optimizer: Any = None) -> float:
        """Do one step of training, the user's or the usual one with another optimizer; return the loss before it."""
        with fixed_random_numbers():
            if optimizer is None and self.train_step is not None:
                before = self.loss_now()
                self.train_step(self.model, self.optimizer, self.batch)
                return before
            optimizer = optimizer or self.optimizer
            optimizer.zero_grad()
            loss = self.loss()
            loss.backward()
            optimizer.step()
            return float(loss.detach())

    def loss_now(self) -> float:
        """Return the loss of the batch, with the random numbers of each other call, without a graph."""
        with no_grad(), fixed_random_numbers():
            return float(self.loss())

    @contextlib.contextmanager
    def untouched(self) -> Iterator[None]:
        """Give the model, its gradients, the optimizer and the random numbers back as they were."""
        restore = [*saved_model(self.model), *saved_optimizer(self.optimizer), *saved_random_numbers()]
        try:
            with enable_grad():
                yield
        finally:
            for give_back in restore:
                give_back()

    def fresh_optimizer(self, rate: float) -> Any:
        return Adam(list(self.trained().values()), lr=rate)


def loss_in(output: Any) -> Any:
    """Return the loss in the output of a model: the output itself, or its ``loss``."""
    loss = output
    if isinstance(output, Mapping) and "loss" in output:
        loss = output["loss"]
    elif hasattr(output, "loss"):
        loss = output.loss
    if not isinstance(loss, _C.TensorBase) or loss.numel() != 1:
        raise TypeError(
            f"diagnose: the model returned {described(output)}, not a loss. "
            "Hint: diagnose(model, (inputs, target), loss_fn), where loss_fn(output, target) returns one number."
        )
    return loss


@no_grad()
def saved_model(model: Any) -> list[Callable[[], None]]:
    """Return functions that give back the tensors, gradients, flags and modes of a model."""
    tensors = [*model.parameters(), *model.buffers()]
    former = [(tensor, tensor.detach().clone(), tensor.requires_grad) for tensor in tensors]
    grads = [(tensor, tensor.grad, None if tensor.grad is None else tensor.grad.clone()) for tensor in tensors]
    modes = [(module, module.training) for module in model.modules()]
    buffers = [(module, dict(module._buffers)) for module in model.modules()]
    for tensor in tensors:
        tensor.grad = None

    @no_grad()
    def give_back() -> None:
        for module, own in buffers:
            module._buffers.clear()
            module._buffers.update(own)
        for tensor, value, required in former:
            tensor.detach().copy_(value)
            tensor.requires_grad_(required)
        for tensor, grad, value in grads:
            if grad is not None:
                grad.copy_(value)
            tensor.grad = grad
        for module, mode in modes:
            module.training = mode

    return [give_back]


def saved_optimizer(optimizer: Any) -> list[Callable[[], None]]:
    """Return functions that give back the state and the settings of an optimizer."""
    if optimizer is None:
        return []
    state = {key: dict(value) for key, value in optimizer.state.items()}
    values = {key: tree_map(copied, dict(value)) for key, value in optimizer.state.items()}
    groups = [(group, {**group, "params": list(group["params"])}) for group in optimizer.param_groups]

    @no_grad()
    def give_back() -> None:
        optimizer.state.clear()
        for key, own in state.items():
            for name, value in own.items():
                if isinstance(value, _C.TensorBase):
                    value.copy_(values[key][name])
                else:
                    own[name] = values[key][name]
            optimizer.state[key] = own
        for group, settings in groups:
            group.clear()
            group.update(settings)

    return [give_back]


def copied(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, _C.TensorBase) else copy.deepcopy(value)


def saved_random_numbers() -> list[Callable[[], None]]:
    ours, python = get_rng_state(), random.getstate()
    return [lambda: set_rng_state(ours), lambda: random.setstate(python)]


@contextlib.contextmanager
def fixed_random_numbers() -> Iterator[None]:
    """Let the block draw the same random numbers each time, so that dropout does not hide what changes."""
    restore = saved_random_numbers()
    manual_seed(0)
    random.seed(0)
    try:
        yield
    finally:
        for give_back in restore:
            give_back()


@contextlib.contextmanager
def mode(model: Any, training: bool) -> Iterator[None]:
    """Put all modules of a model in one mode for a block."""
    former = [(module, module.training) for module in model.modules()]
    model.train(training)
    try:
        yield
    finally:
        for module, was in former:
            module.training = was
