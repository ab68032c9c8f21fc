"""Files that the Debug build compiles in batches also compile alone.

``make lint`` checks all floors, which takes a minute. Here one batch of the core shows that the check works.

Mirrors: nothing in PyTorch: see .ci/compile_alone.py
"""

import importlib.util
import json
import os
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def compile_alone() -> ModuleType:
    spec = importlib.util.spec_from_file_location("compile_alone", ROOT / ".ci" / "compile_alone.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_files_of_the_core_compile_alone(compile_alone: ModuleType, tmp_path: Path) -> None:
    entries = json.loads((ROOT / "build" / "Debug" / "compile_commands.json").read_text())
    batches = [entry for entry in entries if "reftorch_core.dir/Unity" in entry["file"]]
    batch = max(batches, key=lambda entry: Path(entry["file"]).read_text().count("#include"))
    (tmp_path / "compile_commands.json").write_text(json.dumps([batch]))
    assert len(list(compile_alone.commands(tmp_path, ["reftorch_core"]))) > 1
    assert compile_alone.check(tmp_path, ["reftorch_core"], jobs=1) == []


def test_a_file_that_needs_its_batch_is_found(compile_alone: ModuleType, tmp_path: Path) -> None:
    batch = tmp_path / "CMakeFiles" / "some_floor.dir" / "Unity" / "unity_0_cxx.cxx"
    batch.parent.mkdir(parents=True)
    sources = {"whole.cpp": "#include <vector>\nstd::vector<int> all();\n", "part.cu": "std::vector<int> some();\n"}
    for name, text in sources.items():
        (tmp_path / name).write_text(text)
    batch.write_text("".join(f'#include "{tmp_path / name}"\n' for name in sources))
    command = f"{os.environ.get('CXX', 'c++')} -std=c++17 -o batch.o -c {batch}"
    (tmp_path / "compile_commands.json").write_text(json.dumps([{"file": str(batch), "command": command}]))
    (problem,) = compile_alone.check(tmp_path, [], jobs=2)
    assert problem.startswith(f"{tmp_path / 'part.cu'} does not compile alone:\n")
    with pytest.raises(ValueError, match="compiles no files together in other_floor"):
        compile_alone.check(tmp_path, ["other_floor"], jobs=1)
