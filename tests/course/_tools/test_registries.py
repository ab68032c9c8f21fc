"""The picture of a model shows each registered name once, and in yellow what no registry has.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import reftorch as torch
from course._tools import registries
from course._tools.registries import plain_attributes
from reftorch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
        self.register_buffer("mask", torch.ones(1))
        self.inner = nn.Sequential(nn.Linear(2, 2))
        self.forgotten = [nn.Linear(2, 2)]


def texts(picture) -> list[str]:
    root = ElementTree.fromstring(picture.svg())
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_each_module_of_the_walk_has_a_row_with_its_four_dicts():
    shown = texts(registries(Model(), "a model"))
    assert [name for name in shown if name in ("Model", "Sequential", "Linear")] == ["Model", "Sequential", "Linear"]
    assert shown.count("__dict__") == 3
    for name in ("weight", "mask", "forgotten", "weight, bias"):
        assert shown.count(name) == 1, name


def test_the_attributes_of_every_module_are_no_plain_attributes():
    assert plain_attributes(Model()) == ["forgotten"]
    assert plain_attributes(nn.Linear(2, 3)) == ["in_features", "out_features"]


def test_names_that_do_not_fit_give_way_to_an_ellipsis():
    module = nn.Module()
    for number in range(30):
        module.register_buffer(f"buffer_{number}", None)
    shown = next(text for text in texts(registries(module, "many")) if text.startswith("buffer_0"))
    assert shown.endswith("…")
    assert len(shown) < 30
