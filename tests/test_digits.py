"""Real data: a convolutional network learns handwritten digits as well as it does in torch, and its curves are drawn.

Mirrors: nothing in PyTorch: pytorch/examples/mnist trains on data that is downloaded.
"""

from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

import reftorch
from tests.answers.watched import asked
from tests.bench import digits


def test_the_network_learns_and_its_curves_are_drawn(tmp_path: Path) -> None:
    """Half of the epochs; `make bench` runs all of them in the Release build, and asks for 98.5 % in 20 s."""
    run = digits.train(reftorch, epochs=8)
    assert run.accuracies[-1] >= 0.97
    digits.draw(run, str(tmp_path / "curves.svg"))
    picture = ElementTree.fromstring((tmp_path / "curves.svg").read_text())
    assert [len(line.attrib["points"].split()) for line in picture.iter("{http://www.w3.org/2000/svg}polyline")] == [
        len(run.losses),
        8,
    ]


def test_the_first_losses_are_those_of_torch(real_torch: ModuleType) -> None:
    def losses(lib: ModuleType) -> list[float]:
        return digits.train(lib, epochs=1).losses[:8]

    assert losses(reftorch) == pytest.approx(asked(real_torch, losses), rel=1e-4)
