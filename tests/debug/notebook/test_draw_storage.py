"""The picture of tensors and their memory says what is there.

Mirrors: nothing in PyTorch: it has no such picture.
"""

from xml.etree import ElementTree

import pytest

import reftorch as torch
from reftorch.debug import draw_storage
from reftorch.debug.common.svg import Picture
from reftorch.debug.notebook.draw_storage import COLORS, shown_part, used, value_text

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture: Picture) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture.svg()).iter(SVG + "text")]


def bars(picture: Picture) -> list[str]:
    """The colours of the bars under the storage's cells, from left to right."""
    rects = [r for r in ElementTree.fromstring(picture.svg()).iter(SVG + "rect") if r.get("height") == "3"]
    return [str(r.get("fill")) for r in sorted(rects, key=lambda r: float(str(r.get("x"))))]


def test_a_view_shares_the_storage() -> None:
    x = torch.arange(6).reshape(2, 3)
    picture = draw_storage(x, x.t(), row=x[1])
    said = texts(picture)
    assert repr(picture) == "[picture] 3 tensors on 1 storage"
    assert {"x", "tensor 1", "row"} <= set(said)  # the caller's variable; none; the keyword
    assert "[2, 3] int64, strides [3, 1], offset 0" in said
    assert "[3, 2] int64, strides [1, 3], offset 0, not contiguous" in said
    assert "[3] int64, strides [1], offset 3" in said
    x_color, t_color, row_color = (line for line, _ in COLORS[:3])
    assert bars(picture) == [x_color, t_color] * 3 + [x_color, t_color, row_color] * 3


def test_elements_stand_with_the_number_of_their_cell() -> None:
    said = texts(draw_storage(t=torch.tensor([[10, 20], [30, 40]]).t()))
    grid = said[said.index("[2, 2] int64, strides [1, 2], offset 0, not contiguous") + 1 :]
    assert grid == ["10", "0", "30", "2", "20", "1", "40", "3"]


def test_expanded_and_unused_cells() -> None:
    one = draw_storage(e=torch.tensor([7.0]).expand(3))
    assert texts(one).count("7") == 4 and len(bars(one)) == 1  # the cell, and three elements that are that cell
    half = torch.arange(6)[::2]
    assert used(half, 6) == [0, 2, 4] and len(bars(draw_storage(half))) == 3


def test_several_storages() -> None:
    picture = draw_storage(torch.ones(1), torch.ones(2), torch.empty(0), torch.empty(0, 2))
    assert repr(picture) == "[picture] 4 tensors on 4 storages"
    assert "storage 3" in texts(picture) and texts(picture).count("no elements") == 2


def test_large_tensors_are_shown_in_part() -> None:
    said = texts(draw_storage(big=torch.zeros(500, 400)))
    assert "... 199904 cells more" in said and "... 199952 elements more" in said and len(said) < 400


def test_more_than_two_dimensions() -> None:
    x = torch.arange(24).reshape(2, 3, 2, 2)
    assert shown_part(x).shape == (4, 2, 2)
    said = texts(draw_storage(x))
    assert {"[0, 0]", "[0, 1]", "[0, 2]", "[1, 0]"} <= set(said) and "[1, 1]" not in said
    assert "... 8 elements more" in said


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (-0.0123456, "-0.012"),
        (123456.0, "1e+05"),
        (1234567, "1e+06"),
        (True, "True"),
        (float("nan"), "nan"),
    ],
)
def test_values_fit_into_a_cell(value: float, text: str) -> None:
    assert value_text(value) == text and len(text) <= 6


def test_a_notebook_gets_an_image() -> None:
    shown = draw_storage(torch.ones(2))._repr_mimebundle_()
    assert shown["text/html"].startswith("<img src=") and shown["image/svg+xml"].startswith("<svg")


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="at least one tensor"):
        draw_storage()
    with pytest.raises(TypeError, match="'y' is a list"):
        draw_storage(torch.ones(1), y=[1])


def test_a_tensor_without_memory_is_drawn_by_its_shape() -> None:
    ghost, x = torch.ones(2, 3, device="meta"), torch.ones(2)
    picture = draw_storage(ghost, x, lazy=torch.nn.LazyLinear(3).weight)
    assert repr(picture) == "[picture] 3 tensors on 1 storage"
    shown = texts(picture)
    assert "[2, 3] float32, strides [3, 1], offset 0" in shown
    assert "no memory: the tensor is on meta, where tensors have shapes and no values" in shown
    assert "float32, is not initialized yet, because its module is lazy: no memory" in shown
