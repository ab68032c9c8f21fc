"""What the tools show reaches an exported page: pictures as images, tables as tables, nothing to be fetched.

Mirrors: nothing in PyTorch: it draws nothing.
Left out: JupyterLab's own page; the course is opened in a browser by a program of its own.
"""

from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter

import reftorch as torch
from reftorch.debug import (
    check_gradients,
    compare,
    draw_graph,
    draw_storage,
    find_nan,
    memory_snapshot,
    record_tensors,
    summary,
)
from tests.debug.models import nested, numbers


def exported(shown: Any) -> str:
    """The page of a notebook whose only output is what IPython keeps of an object."""
    from IPython.core.formatters import DisplayFormatter

    data, metadata = DisplayFormatter().format(shown)
    output = nbformat.v4.new_output("execute_result", data=data, metadata=metadata, execution_count=1)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("shown", outputs=[output])])
    exporter = HTMLExporter(template_name="basic")
    return exporter.from_notebook_node(notebook)[0]


def pictures() -> list[Any]:
    x = torch.ones(2, 3, requires_grad=True)
    return [draw_storage(x, x.t()), draw_graph(x.exp().sum())]


def tables() -> list[Any]:
    model = nested()
    with record_tensors(model) as run:
        model(numbers())
    with find_nan(model) as found:
        torch.zeros(1).log()
    other = nested()
    other.b.bias.data += 1
    snapshot = memory_snapshot()
    return [
        run,
        found,
        summary(model),
        check_gradients(model),
        compare(model, other),
        snapshot,
        snapshot.diff(snapshot),
    ]


def test_pictures_are_images_of_their_own() -> None:
    for picture in pictures():
        page = exported(picture)
        assert "data:image/svg+xml;base64," in page or "<svg" in page


@pytest.mark.parametrize("position", range(7))
def test_tables_are_tables(position: int) -> None:
    shown = tables()[position]
    page = exported(shown)
    assert ("<table" in page) == bool(shown.tables()[0].rows)
    assert shown.tables()[0].caption.split(":")[0] in page
