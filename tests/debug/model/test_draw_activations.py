"""The picture of activations shows dead and saturated units where they are.

Mirrors: nothing in PyTorch: it has no such picture.
"""

from xml.etree import ElementTree

import pytest

import reftorch as torch
from reftorch.debug import draw_activations
from reftorch.debug.model.draw_activations import DEAD, ENDS

SVG = "{http://www.w3.org/2000/svg}"


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)
        with torch.no_grad():
            self.inner.weight.fill_(0.0)
            self.inner.bias.copy_(torch.tensor([1.0, -1.0, 1.0, -1.0]))
            self.outer.weight.copy_(torch.tensor([[50.0] * 4, [0.1] * 4]))
            self.outer.bias.zero_()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.relu(self.inner(x)) @ self.outer.weight.t().tanh()


def test_each_unit_has_a_cell() -> None:
    net = torch.nn.Sequential(Net().inner, torch.nn.ReLU(), Net().outer, torch.nn.Tanh())
    picture = draw_activations(net, torch.randn(8, 3))
    assert repr(picture) == "[picture] 2 activations; idle units: 3 of 6"
    root = ElementTree.fromstring(picture.svg())
    fills = [r.get("fill") for r in root.iter(SVG + "rect") if r.get("height") == "10"]
    assert fills == ["#ffffff", DEAD[1], "#ffffff", DEAD[1], ENDS[1], "#ffffff"]
    said = [element.text or "" for element in root.iter(SVG + "text")]
    assert said[0] == "relu [8, 4]: 2 of 4 units zero for all inputs"
    assert "in module '1'" in said[1]


def test_the_line_of_a_function() -> None:
    said = draw_activations(Net(), torch.randn(8, 3)).svg()
    assert "torch.nn.functional.relu(self.inner(x))" in said and "in the model itself" in said


def test_a_model_without_activations() -> None:
    with pytest.raises(ValueError, match="no relu, tanh or sigmoid"):
        draw_activations(torch.nn.Linear(2, 2), torch.ones(1, 2))
    with pytest.raises(TypeError, match="expected a module"):
        draw_activations(torch.ones(2))
