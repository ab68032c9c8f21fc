"""The program that is diagnosed: a model, a batch, a loss, and the steps of the user; and how to leave it untouched.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
Left out: state outside the model and the optimizer, such as schedulers and data loaders.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reftorch.debug.common.expect import described, expect_number
from reftorch.debug.common.library import enable_grad, is_tensor, library_of, no_grad
from reftorch.debug.common.untouched import fixed_random_numbers, own_copy, untouched
from reftorch.debug.model.diagnosis.findings import NotRun
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
        sizes = (t.shape[self.batch_dim] for t in tree_leaves(self.inputs) if self.has_samples(t))
        size = next(sizes, None)
        if size is None:
            raise NotRun(f"no input is a tensor with a dimension {self.batch_dim} of samples")
        return int(size)

    def has_samples(self, value: Any) -> bool:
        return is_tensor(value) and value.dim() > self.batch_dim

    def call(self, inputs: Any) -> Any:
        """Call the model on copies: a tuple holds positional arguments, a mapping keyword arguments."""
        inputs = tree_map(own_copy, inputs)  # a layer in place, such as ReLU(inplace=True), may write to them
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
                self.train()
                return before
            optimizer = optimizer or self.optimizer
            optimizer.zero_grad()
            loss = self.loss()
            loss.backward()
            optimizer.step()
            return float(loss.detach())

    def train(self) -> None:
        """Call the user's step of training on a copy of the batch."""
        assert self.train_step is not None
        self.train_step(self.model, self.optimizer, tree_map(own_copy, self.batch))

    def evaluate(self) -> None:
        """Call the user's evaluation on a copy of the batch."""
        assert self.eval_step is not None
        self.eval_step(self.model, tree_map(own_copy, self.batch))

    def loss_now(self) -> float:
        """Return the loss of the batch, with the random numbers of each other call, without a graph."""
        with no_grad(), fixed_random_numbers():
            return float(self.loss())

    @contextlib.contextmanager
    def untouched(self) -> Iterator[None]:
        """Give the model, its gradients, the optimizer and the random numbers back as they were."""
        with untouched(self.model, optimizer=self.optimizer), enable_grad():
            yield

    def fresh_optimizer(self, rate: float) -> Any:
        return library_of(self.model).optim.Adam(list(self.trained().values()), lr=rate)


def loss_in(output: Any) -> Any:
    """Return the loss in the output of a model: the output itself, or its ``loss``."""
    loss = output
    if isinstance(output, Mapping) and "loss" in output:
        loss = output["loss"]
    elif hasattr(output, "loss"):
        loss = output.loss
    if not is_tensor(loss) or loss.numel() != 1:
        raise TypeError(
            f"diagnose: the model returned {described(output)}, not a loss. "
            "Hint: diagnose(model, (inputs, target), loss_fn), where loss_fn(output, target) returns one number."
        )
    return loss


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
