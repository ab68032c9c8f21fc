"""The examples of the README print what the README says, and its pictures exist.

Mirrors: nothing in PyTorch: its README has no examples.
"""

import doctest
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"


def test_the_examples_print_what_the_readme_says() -> None:
    text = "\n".join(re.findall(r"^```pycon\n(.*?)^```", README.read_text(), re.S | re.M))
    examples = doctest.DocTestParser().get_doctest(text, {}, "README.md", str(README), 0)
    assert len(examples.examples) == 12
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    said: list[str] = []
    runner.run(examples, out=said.append)
    assert not runner.failures, "".join(said)


def test_the_pictures_exist_and_are_small() -> None:
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README.read_text())
    assert len(pictures) >= 2
    for picture in pictures:
        assert (ROOT / picture).stat().st_size < 300_000, picture


def test_the_system_packages_are_named() -> None:
    assert "build-essential python3-venv python3-dev" in README.read_text()
