"""The examples of the README print what the README says, and its pictures exist.

Mirrors: nothing in PyTorch: its README has no examples.
"""

import doctest
import json
import os
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


def test_one_licence_everywhere() -> None:
    name = "BSD-3-Clause"
    ours = []
    for folder, folders, files in os.walk(ROOT):
        made = {".git", ".venv", ".venv-torch", "build", "work", "lib", "third_party"}
        folders[:] = [
            each for each in folders if each not in made and not each.endswith("cache__") and "_cache" not in each
        ]
        ours += [os.path.relpath(os.path.join(folder, file), ROOT) for file in files]
    assert [file for file in ours if re.search("licen[cs]e|copying", Path(file).name, re.I)] == ["LICENSE"]
    assert (ROOT / "LICENSE").read_text().startswith("BSD 3-Clause License")
    assert f'\nlicense = "{name}"\n' in (ROOT / "pyproject.toml").read_text()
    assert f"## License\n\n{name}" in README.read_text()
    packages = [file for file in ours if Path(file).name == "package.json"]
    assert packages
    assert {json.loads((ROOT / file).read_text())["license"] for file in packages} == {name}
    others = re.compile(r"\b(MIT|Apache|GPL|MPL)\b.{0,12}licen[cs]e|licen[cs]e\W+(MIT|Apache|GPL|MPL)\b", re.I)
    texts = [file for file in ours if file.endswith((".md", ".py", ".js", ".toml", ".json", ".h", ".cpp"))]
    assert [file for file in texts if others.search((ROOT / file).read_text())] == []
