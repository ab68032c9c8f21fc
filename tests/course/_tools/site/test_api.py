"""The pages of the API have every public name, with resolved references and links to files that exist.

Mirrors: nothing in PyTorch: PyTorch's docs are checked by a list of names without docs.
Leaves out: Sphinx, which `make docs` runs with warnings as errors.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from course._tools.listing import PYTORCH
from course._tools.site.api import write_api
from course._tools.site.catalogue import ROOT, Catalogue, found
from course._tools.site.names_page import write_names
from reftorch import _api


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue()


@pytest.fixture(scope="module")
def pages(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("api")
    write_api(folder, catalogue)
    return {page.stem: page.read_text() for page in folder.glob("*.rst")}


def test_every_name_that_is_here_has_an_entry(catalogue: Catalogue) -> None:
    here = [f"{row.module}.{row.name}" for row in _api.rows().values() if row.state in ("there", "partly")]
    lacking = [name for name in here if name not in catalogue.names and not isinstance(found(name), ModuleType)]
    assert lacking == []


def test_every_page_is_listed_and_every_reference_names_an_entry(catalogue: Catalogue, pages: dict[str, str]) -> None:
    listed = set(re.findall(r"^   ([\w.-]+)$", pages["index"], re.M))
    assert listed == set(pages) - {"index"}
    for name, text in pages.items():
        for target in re.findall(r":py:obj:`[^`]*<([^>`]+)>`", text):
            assert target in catalogue.names, f"{name}: {target}"
        assert not re.search(r"(?<!:py):(?:func|class|meth|attr|exc|data|obj):`", text), name


def test_every_place_is_a_line_of_a_file(pages: dict[str, str]) -> None:
    places = {found for text in pages.values() for found in re.findall(r"<\.\./source/(\S+)\.html#line-(\d+)>", text)}
    assert len(places) > 1500
    lengths: dict[str, int] = {}
    for path, line in places:
        if path not in lengths:
            lengths[path] = len((ROOT / path).read_text().splitlines())
        assert 0 < int(line) <= lengths[path], (path, line)


def test_links_to_pytorch_lead_to_files_of_its_release(pages: dict[str, str], real_torch: ModuleType) -> None:
    """The wheel has PyTorch's Python files and headers; of the other files only the kind of path can be judged."""
    wheel = Path(importlib.util.find_spec("torch").origin).parents[1]
    linked = {path for text in pages.values() for path in re.findall(re.escape(PYTORCH) + r"/([^>]+)>", text)}
    python = {path for path in linked if path.startswith("torch/") and path.endswith((".py", ".pyi"))}
    assert len(python) > 200
    assert sorted(path for path in python if not (wheel / path).is_file()) == []
    others = linked - python
    assert not [
        path
        for path in others
        if not re.match(r"(aten|c10|caffe2|functorch|torch|torchgen|tools|test)/[\w./-]+\.\w+$", path)
    ]


def test_the_table_of_names_has_every_row(catalogue: Catalogue, tmp_path: Path) -> None:
    write_names(tmp_path / "names.md", catalogue)
    text = (tmp_path / "names.md").read_text()
    assert text.count("<tr data-state=") == len(_api.rows())
    assert 'href="api/torch.nn.html#torch.nn.Linear"' in text
    assert f"{len(_api.rows()):,} public names" in text
