"""The table of a model.

Mirrors: nothing in PyTorch: it has no such tool.
"""

from types import ModuleType
from xml.etree import ElementTree

import reftorch as torch
from reftorch.debug import summary
from tests.debug.models import nested, numbers


def test_the_table() -> None:
    text = str(summary(nested(), numbers())).splitlines()
    rows = [line.split("  ") for line in text]
    assert [rows[2][0], text[3][:5].rstrip(), text[4][:9].strip()] == ["(model)", "  a", "lin"]
    assert "weight [3, 3], bias [3]" in text[4] and text[4].endswith(" 12")
    assert "[2, 3], [3]" in text[3] and "[2, 3], [2, 3], [2, 3]" in text[3]  # keyword; what the dict holds
    assert text[-1] == "16 parameters, 16 of them trained; 0 elements of buffers; 64 B"


def test_totals_count_what_is_shared_once() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 2, bias=False))
    net[2].weight = net[0].weight
    net.append(net[0])
    net.register_buffer("mean", torch.zeros(5))
    net[0].bias.requires_grad_(False)
    found = summary(net)
    assert (found.parameters, found.trainable, found.buffers, found.nbytes) == (6, 4, 5, 44)
    assert "weight (shared)" in str(found) and "(shared, see above)" in str(found)


def test_depth() -> None:
    shown = str(summary(nested(), depth=1))
    assert "Block" in shown and "Tanh" not in shown and "16 parameters" in shown


def test_looking_changes_nothing() -> None:
    class Counting(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.zeros(1))
            self.child = torch.nn.Identity().eval()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if self.training:
                self.calls += 1
            return self.child(x * 2)

    model = Counting()
    summary(model, torch.ones(1))
    assert model.calls.item() == 0 and model.training and not model.child.training
    assert not model._forward_hooks


def test_in_a_notebook_it_is_a_table() -> None:
    html = summary(torch.nn.Linear(2, 3), torch.ones(1, 2))._repr_html_()
    root = ElementTree.fromstring(f"<div>{html.replace('&nbsp;', ' ')}</div>")
    assert [cell.text for cell in root.iter("th")] == ["name", "type", "input", "output", "holds", "parameters"]
    assert [cell.text for cell in root.iter("td")][:4] == ["(model)", "Linear", "[1, 2]", "[1, 3]"]


def test_a_model_of_torch(real_torch: ModuleType) -> None:
    assert str(summary(nested(real_torch), numbers(real_torch))) == str(summary(nested(), numbers()))
