"""The model on which the tools for models are tested, of our library or of torch.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
"""

from types import ModuleType
from typing import Any

import reftorch


def nested(lib: ModuleType = reftorch) -> Any:
    """a: a block that calls its activation twice, takes a keyword and returns a dict; b: Linear."""

    class Block(lib.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lin = lib.nn.Linear(3, 3)
            self.act = lib.nn.Tanh()

        def forward(self, x: Any, scale: Any = None) -> Any:
            h = self.act(self.act(self.lin(x)) * scale)
            return {"y": h, "parts": (x, [h])}

    class Net(lib.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = Block()
            self.b = lib.nn.Linear(3, 1)

        def forward(self, x: Any) -> Any:
            return self.b(self.a(x, scale=lib.ones(3) * 2)["y"])

    net = Net()
    with lib.no_grad():
        for parameter in net.parameters():
            count = parameter.numel()
            parameter.copy_((lib.arange(count) * 0.7).sin().reshape(parameter.shape))
    return net


def numbers(lib: ModuleType = reftorch) -> Any:
    """An input for it."""
    return (lib.arange(6) * 0.3).cos().reshape(2, 3)
