"""The cubes are blue where the layer's output depends on the input, and a class stands below its base.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from course._tools import class_tree, norm_cubes
from course._tools.norm_pictures import BLUE, shares_a_mean
from reftorch import nn
from reftorch.nn.modules.batchnorm import _BatchNorm, _NormBase

SVG = "{http://www.w3.org/2000/svg}"
SHAPE = (2, 4, 1, 3)


def texts(picture) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(picture.svg()).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("layer", "one_mean"),
    [
        (nn.BatchNorm2d(4), (slice(None), 3)),
        (nn.LayerNorm((4, 1, 3)), (0,)),
        (nn.LayerNorm(3), (0, 3, 0)),
        (nn.InstanceNorm2d(4), (0, 3)),
        (nn.GroupNorm(2, 4), (0, slice(2, 4))),
    ],
)
def test_what_shares_a_mean_is_what_the_output_depends_on(layer, one_mean):
    shared = shares_a_mean(layer, SHAPE)
    expected = shared.new_zeros(SHAPE)
    expected[one_mean] = True
    assert shared.tolist() == expected.tolist()


def test_a_batch_norm_in_evaluation_shares_nothing():
    assert shares_a_mean(nn.BatchNorm2d(4).eval(), SHAPE).sum().item() == 1


def test_a_cube_shows_the_cells_of_its_three_faces():
    picture = norm_cubes({"BatchNorm2d(4)": nn.BatchNorm2d(4)}, SHAPE, "a cube")
    cells = [each.get("fill") for each in ElementTree.fromstring(picture.svg()).iter(f"{SVG}polygon")]
    assert len(cells) == 4 * 3 + 2 * 4 + 2 * 3  # in front, above, at the right
    assert cells.count(BLUE[0]) == 3 + 2 + 6
    assert "6 elements, 4 means" in texts(picture)


def test_a_class_names_the_methods_that_it_defines():
    classes = [nn.Module, _NormBase, _BatchNorm, nn.BatchNorm2d]
    shown = texts(class_tree(classes, "norms", methods=("forward", "_check_input_dim")))
    assert [each for each in shown if each in ("Module", "_NormBase", "_BatchNorm", "BatchNorm2d")] == [
        cls.__name__ for cls in classes
    ]
    assert shown[-1] == "_check_input_dim"
    assert "forward" in shown


def test_a_class_before_its_base_is_refused():
    with pytest.raises(LookupError, match="_NormBase must come before _BatchNorm"):
        class_tree([_BatchNorm, _NormBase], "upside down")
