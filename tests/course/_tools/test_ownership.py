"""Pictures of ownership draw every arrow, tell weak ones apart, and find out which tensors share a version counter.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

import reftorch as torch
from course._tools import Thing, pointers, version_counters

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture) -> list[str]:
    return [element.text for element in ElementTree.fromstring(picture.svg()).iter(f"{SVG}text")]


def arrows(picture) -> list[dict[str, str]]:
    return [line.attrib for line in ElementTree.fromstring(picture.svg()).iter(f"{SVG}line")]


THINGS = {"leaf": Thing(0, 0, "leaf", "a tensor"), "node": Thing(1, 0, "node", floor="autograd")}


def test_owning_and_weak_arrows_differ():
    picture = pointers(THINGS, [("leaf", "node", "grad_accumulator_", True), ("node", "leaf", "variable")], "two")
    *drawn, owns, weak = arrows(picture)
    assert ["stroke-dasharray" in arrow for arrow in drawn] == [True, False]
    assert ["stroke-dasharray" in arrow for arrow in (owns, weak)] == [False, True]
    assert {"leaf", "a tensor", "node", "variable", "grad_accumulator_"} <= set(texts(picture))


def test_arrows_in_both_directions_do_not_cover_each_other():
    there, back, *_ = arrows(pointers(THINGS, [("leaf", "node"), ("node", "leaf")], "two"))
    assert there["y1"] != back["y1"]


def test_an_arrow_ends_at_the_edges_of_its_boxes():
    arrow, *_ = arrows(pointers(THINGS, [("leaf", "node")], "two", width=100, gap=50))
    assert float(arrow["x2"]) - float(arrow["x1"]) == 50


def test_an_arrow_to_nowhere_is_refused():
    with pytest.raises(KeyError, match="nobody"):
        pointers(THINGS, [("leaf", "nobody")], "broken")


def test_tensors_that_share_a_counter_are_found_and_left_as_they_were():
    base = torch.zeros(4)
    base.add_(1)
    view, data = base[:2], base.data
    picture = version_counters("three", base=base, view=view, data=data)
    assert texts(picture).count("version 1") == 1  # of base and view
    assert texts(picture).count("version 0") == 1
    assert texts(picture).count("16 bytes") == 1
    assert (base._version, view._version, data._version) == (1, 1, 0)
    assert len(arrows(picture)) == 2 * 3
