"""The pages of the site: their examples print what they say, what they include exists, and the small site is whole.

Mirrors: nothing in PyTorch: its docs are built by a workflow of its own.
"""

from __future__ import annotations

import datetime
import doctest
import importlib
import json
import os
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from course._tools.site.gates import MEASURED, SOURCE, gates, gates_table, ratios_text
from course._tools.site.markdown import FROM, HERE, HOMES, page_text, section

ROOT = HERE.parents[3]
PAGES = sorted(HERE.rglob("*.md"))
WITH_EXAMPLES = [page for page in PAGES if "```pycon" in page.read_text()]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.stem)
def test_the_examples_print_what_the_page_says(page: Path) -> None:
    text = "\n".join(re.findall(r"^```pycon\n(.*?)^```", page.read_text(), re.S | re.M))
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert examples.examples
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    said: list[str] = []
    runner.run(examples, out=said.append)
    assert not runner.failures, "".join(said)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(HERE)))
def test_what_a_page_includes_and_links_to_exists(page: Path, tmp_path: Path) -> None:
    text = page_text(page, tmp_path, tmp_path)
    assert not FROM.search(text)
    generated = {"names.md", "source.md", "api/index.rst"}
    for path in re.findall(r"\]\(([^)#:\s]+)", page.read_text()):
        target = (page.parent / path).resolve()
        inside = target.relative_to(HERE).as_posix() if target.is_relative_to(HERE) else ""
        notebook = inside.startswith("course/") and (ROOT / inside).exists()
        assert target.exists() or inside in generated or notebook, path


def test_every_page_stands_in_the_list_of_pages() -> None:
    listed = set(re.findall(r"^[\w/]+$", (HERE / "index.md").read_text(), re.M))
    assert {page.relative_to(HERE).with_suffix("").as_posix() for page in PAGES} - {"index"} <= listed


def test_a_section_ends_at_the_next_heading_of_its_level() -> None:
    text = "# A\n\n## B\n\nb\n\n```bash\n# no heading\n```\n\n### C\n\nc\n\n## D\n\nd\n"
    assert section(text, "## B").strip() == "b\n\n```bash\n# no heading\n```\n\n### C\n\nc"
    with pytest.raises(LookupError, match="no heading '## E'"):
        section(text, "## E")


def test_the_homes_of_texts_are_pages() -> None:
    assert {HERE / page for page in HOMES.values()} - {HERE / "names.md"} <= set(PAGES)


def test_the_limits_are_read_from_the_program_that_judges() -> None:
    source = 'A = (1, 2) if W else (3, 4)\nG = (Gate("a", 0.5, 0.1, ("x",)), Gate("b", *A, ("y",)))\n'
    assert list(gates(source)) == [
        ("a", "0.5", "0.1"),
        ("b", "1 (3 without wide AVX-512)", "2 (4 without wide AVX-512)"),
    ]


def test_the_ratios_on_the_site_are_of_all_groups_that_have_a_limit() -> None:
    stored = json.loads(MEASURED.read_text())["ratios"]
    assert stored.keys() == {name for name, _limit, _stretch in gates(SOURCE.read_text())} | {"suites, whole"}
    assert "not measured" not in gates_table()


def test_a_group_that_was_not_measured_again_keeps_its_ratios_on_the_same_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(SOURCE.parent)
    program = importlib.import_module("tests.bench.gates")
    monkeypatch.setattr(program, "MEASURED", tmp_path / "measured.json")
    monkeypatch.setattr(program, "processor", lambda: "some processor")
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(__version__="2.13.0+cpu"))
    how = {"processor": "some processor", "cores": os.cpu_count(), "torch": "2.13.0", "rounds": 9}
    today = datetime.date.today().isoformat()

    def stored_again(rounds: int, *groups: str) -> dict[str, Any]:
        before = {"dates": ["2026-01-01"], **how, "ratios": {"matmul": {"bmm": 0.5}, "import": {"import": 0.2}}}
        program.MEASURED.write_text(json.dumps(before))
        table = program.Table()
        table.ratios = {group: {"new": 0.1} for group in groups}
        table.store(rounds)
        return json.loads(program.MEASURED.read_text())

    merged = stored_again(9, "import")
    assert merged["ratios"] == {"matmul": {"bmm": 0.5}, "import": {"new": 0.1}}
    assert merged["dates"] == ["2026-01-01", today]
    assert stored_again(9, "import", "matmul")["dates"] == [today]
    with_other_rounds = stored_again(3, "import")
    assert (with_other_rounds["ratios"], with_other_rounds["dates"]) == ({"import": {"new": 0.1}}, [today])


def test_a_group_shows_its_best_and_its_worst_ratio() -> None:
    assert ratios_text({"a": 0.2}) == "0.2"
    assert ratios_text({"a": 0.5, "b": 0.2, "c": 0.3}) == "0.2 (`b`) to 0.5 (`a`)"
    assert ratios_text({}) == "not measured"
