"""What a wheel and an sdist are to have in common, and that the build installs what the copy of the course needs.

Mirrors: nothing in PyTorch: its wheels are made by scripts without tests.
"""

import importlib.util
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from course._tools import lab

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def wheel() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_wheel", ROOT / ".ci" / "wheel.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pack(folder: Path, in_wheel: list[str], in_sdist: list[str]) -> tuple[Path, Path]:
    with zipfile.ZipFile(folder / "one.whl", "w") as made:
        for name in in_wheel:
            made.writestr(name, "")
    with tarfile.open(folder / "one.tar.gz", "w:gz") as packed:
        for name in in_sdist:
            packed.addfile(tarfile.TarInfo(f"reftorch-0.2.0/{name}"))
    return folder / "one.whl", folder / "one.tar.gz"


BUILT = ["reftorch/lib/Debug/_C.so", "reftorch/build/Debug/generated/x.h", "reftorch/_C/__init__.pyi",
         "reftorch.libs/libgomp.so", "reftorch-0.2.0.dist-info/METADATA"]  # fmt: skip


def test_equal_sources_are_no_difference(wheel: ModuleType, tmp_path: Path) -> None:
    sources = ["reftorch/__init__.py", "course/index.ipynb"]
    files = pack(
        tmp_path,
        [*sources, *BUILT, "reftorch/cpp/c10/one.h", "reftorch/vscode/launch.json"],
        [*sources, "cpp/c10/one.h", "cpp/CMakeLists.txt", ".vscode/launch.json", "tests/test_one.py"],
    )
    assert wheel.compare(*files) == ""


def test_a_missing_source_is_told(wheel: ModuleType, tmp_path: Path) -> None:
    files = pack(tmp_path, [*BUILT, "reftorch/cpp/c10/one.h"], ["reftorch/nn/functional.py"])
    assert wheel.compare(*files).splitlines() == [
        "in the wheel and not in the sdist: cpp/c10/one.h",
        "in the sdist and not in the wheel: reftorch/nn/functional.py",
    ]


def test_the_build_installs_what_the_copy_of_the_course_takes() -> None:
    text = (ROOT / "cpp" / "CMakeLists.txt").read_text()
    for inside in lab.BESIDE:
        assert f"DESTINATION reftorch/{inside}" in text
    assert (ROOT / "course" / "_tools" / "vscode_tasks.json").exists()
