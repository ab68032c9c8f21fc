"""Which modules are running, in forward and backward.

Mirrors: test/test_module_tracker.py
"""

import importlib
from types import ModuleType
from typing import Any

import reftorch
from tests.answers.watched import asked


def seen(t: Any) -> list[tuple[list[str], bool]]:
    """Return the names at points of a program: in each op of the forward pass, and in the gradients."""
    log: list[tuple[list[str], bool]] = []
    tracker = importlib.import_module(f"{t.__name__}.utils.module_tracker").ModuleTracker()

    class Note(t.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            log.append((sorted(tracker.parents), tracker.is_bw))
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            log.append((sorted(tracker.parents), tracker.is_bw))
            return grad * 2

    class Leaf(t.nn.Module):
        def forward(self, x: Any) -> Any:
            return Note.apply(x)

    class Net(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.rest = Leaf(), t.nn.Sequential(Leaf(), Leaf())

        def forward(self, x: Any) -> Any:
            return self.rest(Note.apply(self.first(x)))

    net = Net()
    x = t.ones(2, requires_grad=True)
    with tracker:
        for _ in range(2):
            net(x).sum().backward()
            log.append((sorted(tracker.parents), tracker.is_bw))
        net(t.ones(2))  # without gradients
    net(x)  # outside of the block
    return log


def test_the_names_are_torchs(real_torch: ModuleType) -> None:
    ours = seen(reftorch)
    assert ours == asked(real_torch, seen)
    assert ours[0] == (["Global", "Net", "Net.first"], False)
    assert ours[4] == (["Global", "Net", "Net.rest", "Net.rest.1"], True)
    assert ours[-1] == (["Global"], False)
