"""Pictures are well-formed, show what they were given, and cannot name what is not there.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree

import pytest

import reftorch
from course._tools import (
    Step,
    bars,
    beside,
    curve,
    curves,
    images,
    kernel_row,
    lanes,
    loop_order,
    memory,
    operands,
    promotion,
    route,
    symbol_map,
    tree_map,
)
from course._tools.dispatch_pictures import CHOSEN, rows_of


class Strided:
    """As much of a tensor as a picture of one needs."""

    def __init__(self, storage, shape, strides, offset=0):
        self.storage, self.shape, self.strides, self.offset = storage, shape, strides, offset

    def stride(self, dim=None):
        return self.strides if dim is None else self.strides[dim]

    def storage_offset(self):
        return self.offset

    def __getitem__(self, index):
        i, j = index
        value = self.storage[self.offset + i * self.strides[0] + j * self.strides[1]]
        return type("Scalar", (), {"item": lambda self: value})()


def texts(picture) -> list[str]:
    root = ElementTree.fromstring(picture.svg())
    return [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]


def fills(picture) -> list[str]:
    root = ElementTree.fromstring(picture.svg())
    return [element.get("fill") for element in root.iter("{http://www.w3.org/2000/svg}rect")][1:]


def test_a_route_shows_its_stations_in_order():
    steps = [Step("python", "a < b & c", why="escaped"), Step("core", "Chapter", "course/_tools/layout.py", "a class")]
    picture = route(steps, "two stations")
    assert [t for t in texts(picture) if t in ("a < b & c", "Chapter")] == ["a < b & c", "Chapter"]
    assert "course/_tools/layout.py" in texts(picture)
    assert repr(picture) == "[picture] two stations"


def test_a_route_refuses_a_station_that_is_not_there():
    with pytest.raises(LookupError, match="NoSuchClass"):
        route([Step("core", "NoSuchClass", "course/_tools/layout.py")], "broken")


def test_two_walks_stand_side_by_side_and_ours_must_be_there():
    rows = [(Step("core", "Chapter", "course/_tools/layout.py", "a class"), "Kapitel", "there/layout.py")]
    assert {"Chapter", "course/_tools/layout.py", "Kapitel", "there/layout.py"} <= set(texts(beside(rows, "two")))
    with pytest.raises(LookupError, match="NoSuchClass"):
        beside([(Step("core", "NoSuchClass", "course/_tools/layout.py"), "", "")], "broken")


def test_a_way_through_two_processes_has_a_lane_for_each():
    sampler = "reftorch/utils/data/sampler.py"
    ways = [
        ("main", Step("python", "BatchSampler.__iter__", sampler, "which samples")),
        ("worker", Step("python", "fetch", why="asks the dataset")),
        ("main", Step("python", "next", why="returns")),
    ]
    picture = lanes(ways, "a batch")
    shown = texts(picture)
    assert shown[:2] == ["main", "worker"]
    assert {"BatchSampler.__iter__", sampler, "asks the dataset"} <= set(shown)
    root = ElementTree.fromstring(picture.svg())
    arrows = [(float(each.get("x1")), float(each.get("x2"))) for each in root.iter("{http://www.w3.org/2000/svg}line")]
    assert [(a < b, a > b) for a, b in arrows] == [(True, False), (False, True)]
    with pytest.raises(LookupError, match="NoSuchSampler"):
        lanes([("main", Step("python", "NoSuchSampler", sampler))], "")


def test_stations_that_a_program_calls_itself_have_no_arrows():
    stations = [Step("python", "a"), Step("python", "b")]
    assert route(stations, "").svg().count("<line ") == 1
    assert route(stations, "", are_calls=False).svg().count("<line ") == 0


def test_bars_are_as_long_as_their_numbers():
    picture = ElementTree.fromstring(bars({"a": 4, "b": 1, "none": 0}, "three", unit="ms").svg())
    boxes = list(picture.iter("{http://www.w3.org/2000/svg}rect"))[1:]
    assert [float(box.get("width")) for box in boxes] == [400, 100, 1]
    assert texts(bars({"a": 4}, "one", unit="ms")) == ["a", "4 ms"]
    assert texts(bars({"a": 1234567.0, "b": 0.25}, "two")) == ["a", "1,234,567", "b", "0.25"]


def test_a_map_refuses_a_folder_that_is_not_there():
    assert "course" in texts(tree_map([("python", "course", "nothing", "lessons")], "one folder"))
    with pytest.raises(LookupError, match="no/such/folder"):
        tree_map([("python", "no/such/folder", "torch", "")], "broken")


def test_a_symbol_map_refuses_a_name_that_is_not_there():
    good = symbol_map(("course/_tools/layout.py", "Chapter", "nothing", "everything"))
    assert "Chapter in course/_tools/layout.py" in repr(good)
    with pytest.raises(LookupError, match="NoSuchClass"):
        symbol_map(("course/_tools/layout.py", "NoSuchClass", "", ""))


def test_operands_that_share_an_element_share_its_colour():
    row = Strided([10.0, 20.0, 30.0], (2, 3), (0, 1))
    first, second = fills(operands("broadcast", b=row))[:3], fills(operands("broadcast", b=row))[3:]
    assert first == second
    assert len(set(first)) == 3
    assert texts(operands("broadcast", b=row)).count("[1]") == 2


def test_a_curve_spans_its_values():
    picture = curve([2.0, 1.0, 0.5], "three steps", x_label="step", y_label="loss")
    assert {"2.00", "0.00", "0", "2", "step", "loss"} <= set(texts(picture))  # the last of three values has index 2


def test_images_draw_what_is_dark_and_label_it():
    picture = images([[[0.0, 1.0], [0.5, 0.0]]], ["7"], "one image")
    assert fills(picture) == ["#000000", "#808080", "none"]
    assert texts(picture) == ["7"]


class Stored(Strided):
    """A tensor on a list of numbers, with what the picture of its storage asks."""

    dtype = "torch.float32"

    def untyped_storage(self):
        nbytes, address = 4 * len(self.storage), id(self.storage)
        return type("Storage", (), {"nbytes": lambda self: nbytes, "data_ptr": lambda self: address})()

    def element_size(self):
        return 4

    def dim(self):
        return len(self.shape)

    def __len__(self):
        return self.shape[0]

    def as_strided(self, sizes, strides, offset=0):
        return Stored(self.storage, sizes, strides, offset)

    def reshape(self, *sizes):
        return self

    def tolist(self):
        places = [self.offset]
        for size, stride in zip(self.shape, self.strides, strict=True):
            places = [place + i * stride for place in places for i in range(size)]
        return [self.storage[place] for place in places]


def test_a_storage_is_drawn_once_and_each_view_says_what_it_reads():
    storage = [10.0, 20.0, 30.0, 40.0]
    whole, column = Stored(storage, (2, 2), (2, 1)), Stored(storage, (2,), (2,), 1)
    drawn = texts(memory("two views", whole=whole, column=column))
    assert drawn.count("[3]") == 3  # in the storage, in the whole, in the column
    assert drawn.count("[0]") == 2
    assert {"sizes (2,), strides (2,)", "offset 1", "40"} <= set(drawn)


def test_tensors_of_two_storages_are_no_picture():
    with pytest.raises(ValueError, match="a, b do not share one storage"):
        memory("two storages", a=Stored([1.0], (1,), (1,)), b=Stored([1.0], (1,), (1,)))


def test_a_promotion_table_shows_every_result():
    drawn = texts(promotion(["torch.bool", "torch.int8"], max, "two dtypes"))
    assert drawn.count("int8") == 2 + 3
    assert drawn.count("bool") == 2 + 1


def chosen_row(picture) -> str:
    """The text in the green box."""
    root = ElementTree.fromstring(picture.svg())
    shapes = list(root)
    green = next(i for i, shape in enumerate(shapes) if shape.get("fill") == CHOSEN)
    return shapes[green + 1].text


def test_the_row_of_a_call_is_that_of_its_highest_key_and_without_it_that_of_the_next():
    x = reftorch.ones(2)
    rows = rows_of("aten::add.Tensor")
    assert list(rows)[-1] == "Profiler"
    assert chosen_row(kernel_row("aten::add.Tensor", "first", x=x, y=x)) == rows["Autograd"]
    picture = kernel_row("aten::add.Tensor", "second", without=["Autograd"], x=x, y=x)
    assert chosen_row(picture) == rows["CPU"] == "BinaryOps.cpp, kernel"
    assert texts(picture).count("off") == 2
    assert "CUDA" not in texts(picture)  # no operand is there


def test_a_loop_says_at_which_steps_each_element_is_read():
    drawn = texts(loop_order("two operands", (2, 3), {"x": (3, 1), "y": (1, 0)}))
    assert drawn[3:9] == ["0", "2", "4", "1", "3", "5"]
    assert drawn[-2:] == ["0,2,4", "1,3,5"]


def lines_of(picture) -> list[list[tuple[float, float]]]:
    """The points of each curve that no other one covers, piece by piece."""
    root = ElementTree.fromstring(picture.svg())
    found = [each for each in root.iter("{http://www.w3.org/2000/svg}polyline") if each.get("stroke-width") == "1.8"]
    return [[tuple(map(float, point.split(","))) for point in line.get("points").split()] for line in found]


def test_curves_name_each_line_and_say_what_is_too_high():
    picture = curves(
        {"one": [4.0, 2.0, 1.0], "two": [8.0, 2.0, 1.5]}, "two", x_label="step", y_label="loss", first=60, highest=4
    )
    shown = texts(picture)
    assert {"one", "two", "step", "loss", "60", "62", "4", "0"} <= set(shown)
    assert picture.caption == "two; not in the picture, because they are above 4: 1 of the 3 values of two (up to 8)"
    one, two = lines_of(picture)
    assert len(one) == len(two) == 3
    assert two[0][1] == one[0][1] == 46  # the upper edge, a third of the way to the second value
    assert 56 < two[0][0] < two[1][0]
    assert curves({"one": [4.0, 2.0]}, "all", x_label="", y_label="").caption == "all"


def test_a_curve_that_leaves_the_picture_and_comes_back_is_not_joined_outside():
    values = [1.0, 1.0, 9.0, 9.0, 1.0, 1.0, math.inf, 1.0, 2.0]
    first, second, third = lines_of(curves({"a": values}, "", x_label="", y_label="", highest=2))
    assert (first[-1][1], second[0][1]) == (46, 46)
    assert first[-1][0] < second[0][0]
    assert len(second) == 3  # an infinity has no line that leads to it
    assert len(third) == 2


def test_a_curve_of_which_nothing_is_seen_is_refused():
    with pytest.raises(ValueError, match="less than 2 of the 3 values of 'high' are in the picture"):
        curves({"low": [1.0, 1.0, 1.0], "high": [9.0, 9.0, 1.0]}, "", x_label="", y_label="", highest=2)


def test_a_curve_below_others_is_wider_than_they_are():
    values = [1.0, 2.0, 3.0]
    picture = curves({"lowest": values, "middle": values, "above": values}, "", x_label="", y_label="")
    root = ElementTree.fromstring(picture.svg())
    long = [each for each in root.iter("{http://www.w3.org/2000/svg}polyline") if each.get("points").count(",") == 3]
    assert [each.get("stroke-width") for each in long] == ["10.2", "6", "1.8"]
    assert len({each.get("points") for each in long}) == 1


def test_a_logarithmic_axis_and_values_below_zero():
    picture = curves({"a": [0.02, 0.2, 2.0]}, "", x_label="", y_label="", log=True)
    assert texts(picture)[:4] == ["0.01", "0.1", "1", "10"]
    (points,) = lines_of(picture)
    assert points[0][1] - points[1][1] == pytest.approx(points[1][1] - points[2][1])
    with pytest.raises(ValueError, match="no place for 0"):
        curves({"a": [0.0, 1.0]}, "", x_label="", y_label="", log=True)
    (points,) = lines_of(curves({"a": [-2.0, 2.0]}, "", x_label="", y_label=""))
    assert [y for _, y in points] == [266, 46]
