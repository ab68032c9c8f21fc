"""Optimizers inside backward, without DistributedDataParallel.

Mirrors: test/distributed/optim/test_apply_optimizer_in_backward.py
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import reftorch as torch
from reftorch.distributed.optim import _apply_optimizer_in_backward, _get_in_backward_optimizers


def test_parameters_change_inside_backward() -> None:
    """One parameter has one optimizer, the other one has two. The same without them: steps after backward."""
    start = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0])
    one, two = (torch.nn.Parameter(each.clone()) for each in start)
    module = torch.nn.Module()
    module.one, module.two = one, two
    _apply_optimizer_in_backward(torch.optim.Adam, [one, two], {"lr": 0.1})
    _apply_optimizer_in_backward(torch.optim.SGD, [two], {"lr": 0.5, "momentum": 0.9})
    x, y = (torch.nn.Parameter(each.clone()) for each in start)
    later: list[Any] = [torch.optim.Adam([x, y], lr=0.1), torch.optim.SGD([y], lr=0.5, momentum=0.9)]
    for _ in range(2):
        ((one * one).sum() * two.sum()).backward()
        ((x * x).sum() * y.sum()).backward()
        for optimizer in later:
            optimizer.step()
        later[0].zero_grad()
        assert torch.equal(one, x) and torch.equal(two, y)
        assert one.grad is None and two.grad is None
    assert [type(each).__name__ for each in _get_in_backward_optimizers(module)] == ["Adam", "Adam", "SGD"]
    assert two._optimizer_classes == [torch.optim.Adam, torch.optim.SGD]
    assert two._optimizer_kwargs == [{"lr": 0.1}, {"lr": 0.5, "momentum": 0.9}]


def test_the_hook_is_not_copied_and_enters_no_file() -> None:
    w = torch.nn.Parameter(torch.ones(2))
    _apply_optimizer_in_backward(torch.optim.SGD, [w], {"lr": 1.0})
    for other in (copy.deepcopy(w), pickle.loads(pickle.dumps(w))):
        other.sum().backward()
        assert other.tolist() == [1.0, 1.0] and other.grad is not None
    w.sum().backward()
    assert w.tolist() == [0.0, 0.0]


def test_the_optimizers_may_wait_for_their_caller() -> None:
    w = torch.nn.Parameter(torch.ones(2))
    _apply_optimizer_in_backward(torch.optim.SGD, [w], {"lr": 1.0}, register_hook=False)
    w.sum().backward()
    assert w.tolist() == [1.0, 1.0] and w.grad is not None
