"""A block that leaves models, their gradients, an optimizer and the generators of random numbers as they were.

Note [Observer contract]

Problem: a tool that calls a model changes what it looks at. Batch norm learns from the call, dropout advances the
generator, a module that counts its calls has counted one more, and the next lines of the user's program compute other
numbers than they would have computed without the tool.

Trick: the tools that call a model do so inside ``untouched``. They share three more rules. What an op or a module
writes into its arguments counts beside its results. A model on meta or a lazy one gets its shapes, or an error of one
sentence that names the tool. A report says "all ok", "agree" or "nothing" only of what was measured, and integers are
compared exactly.

Limits: what a model reaches outside of its modules, such as a global variable or a file, stays changed. Of attributes,
tensors and the items of lists, dicts, sets and deques are given back, and not what lies deeper.

Mirrors: nothing in PyTorch, where people deepcopy a model before they try something.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import random
import sys
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from reftorch.debug.common.flatten import flatten
from reftorch.debug.common.library import is_tensor, libraries, library_of, why_no_values
from reftorch.utils._pytree import tree_map

GiveBack = Callable[[], None]


@contextlib.contextmanager
def untouched(*models: Any, optimizer: Any = None) -> Iterator[None]:
    """Give models, their gradients, an optimizer and the random numbers back as they were.

    Args:
        models: modules of reftorch or of PyTorch.
        optimizer: the optimizer of the models, or None.

    Example:
        >>> from reftorch.debug.common.untouched import untouched
        >>> norm = torch.nn.BatchNorm1d(1)
        >>> with untouched(norm):
        ...     _ = norm(torch.tensor([[1.0], [3.0]]))
        >>> norm.running_mean
        tensor([0.])
    """
    restore = saved_random_numbers()
    for model in models:
        restore += saved_model(model)
    restore += saved_optimizer(optimizer)
    try:
        yield
    finally:
        for give_back in reversed(restore):
            give_back()


def saved_model(model: Any) -> list[GiveBack]:
    """Return functions that give back the tensors, gradients, flags, modes and attributes of a model."""
    library = library_of(model)
    modules = list(model.modules())
    attributes = [(module, saved_attributes(module)) for module in modules]
    held = [tensor for module in modules for _, tensor in flatten(dict(vars(module)), "", 2)]
    found = {id(tensor): tensor for tensor in [*model.parameters(), *model.buffers(), *held]}
    tensors = [saved_tensor(library, tensor) for tensor in found.values() if not why_no_values(tensor)]
    leaves = [tensor for tensor in found.values() if tensor.is_leaf and not why_no_values(tensor)]
    grads = [(tensor, tensor.grad, None if tensor.grad is None else tensor.grad.clone()) for tensor in leaves]
    for tensor in leaves:
        tensor.grad = None

    def give_back() -> None:
        for module, own in attributes:
            own(module)
        for one in tensors:
            one()
        with library.no_grad():
            for tensor, grad, value in grads:
                if grad is not None:
                    grad.copy_(value)
                tensor.grad = grad

    return [give_back]


def saved_attributes(module: Any) -> Callable[[Any], None]:
    """Return a function that gives a module its attributes and the items of its containers back."""
    former = dict(vars(module))
    containers = [(each, copy.copy(each)) for each in former.values() if isinstance(each, (dict, list, set, deque))]

    def give_back(module: Any) -> None:
        vars(module).clear()
        vars(module).update(former)
        for container, items in containers:
            container.clear()
            container.extend(items) if isinstance(container, (list, deque)) else container.update(items)

    return give_back


def saved_tensor(library: Any, tensor: Any) -> GiveBack:
    """Return a function that gives a tensor its values, its flag and its version back.

    The version is given back too, because a graph that saved the tensor before the block has its values again.
    """
    with library.no_grad():
        value, required = tensor.detach().clone(), tensor.requires_grad
    version = None if tensor.is_inference() else tensor._version

    def give_back() -> None:
        with library.no_grad():
            if tensor.shape != value.shape or tensor.dtype != value.dtype:
                tensor.data = value
            else:
                tensor.detach().copy_(value)
        if tensor.is_leaf and tensor.requires_grad != required:
            tensor.requires_grad_(required)
        if version is not None:
            library._C._autograd._unsafe_set_version_counter((tensor,), (version,))

    return give_back


def saved_optimizer(optimizer: Any) -> list[GiveBack]:
    """Return functions that give back the state and the settings of an optimizer."""
    if optimizer is None:
        return []
    state = {key: dict(value) for key, value in optimizer.state.items()}
    values = {key: tree_map(copied, dict(value)) for key, value in optimizer.state.items()}
    groups = [(group, {**group, "params": list(group["params"])}) for group in optimizer.param_groups]

    def give_back() -> None:
        optimizer.state.clear()
        for key, own in state.items():
            for name, value in own.items():
                if is_tensor(value):
                    value.detach().copy_(values[key][name])
                else:
                    own[name] = values[key][name]
            optimizer.state[key] = own
        for group, settings in groups:
            group.clear()
            group.update(settings)

    return [give_back]


def copied(value: Any) -> Any:
    """Return a copy of a value that shares nothing with it; the copy of a tensor has no graph."""
    return value.detach().clone() if is_tensor(value) else copy.deepcopy(value)


def own_copy(value: Any) -> Any:
    """Return a copy of a tensor that a model may write to; another value is returned as it is."""
    return value.detach().clone().requires_grad_(value.requires_grad) if is_tensor(value) else value


def saved_random_numbers() -> list[GiveBack]:
    """Return functions that give back the generators: of reftorch, of PyTorch, of Python and of numpy."""
    python = random.getstate()
    restore: list[GiveBack] = [lambda: random.setstate(python)]
    for library in libraries():
        restore.append(functools.partial(library.set_rng_state, library.get_rng_state()))
        if library.cuda.is_available() and library.cuda.is_initialized():
            restore.append(functools.partial(library.cuda.set_rng_state_all, library.cuda.get_rng_state_all()))
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        restore.append(functools.partial(numpy.random.set_state, numpy.random.get_state()))
    return restore


def seed_all(seed: int) -> None:
    """Seed the generators that :func:`saved_random_numbers` gives back, those of numpy excepted."""
    random.seed(seed)
    for library in libraries():
        library.manual_seed(seed)


@contextlib.contextmanager
def fixed_random_numbers() -> Iterator[None]:
    """Let the block draw the same random numbers each time, so that dropout does not hide what changes."""
    restore = saved_random_numbers()
    seed_all(0)
    try:
        yield
    finally:
        for give_back in restore:
            give_back()
