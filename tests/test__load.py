"""Which build ``import reftorch`` loads, and what it says where there is none.

Mirrors: nothing in PyTorch: it has one build at a time.
"""

import importlib.util
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module under test, looking for builds in an empty folder."""
    spec = importlib.util.spec_from_file_location("_load_under_test", ROOT / "reftorch" / "_load.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "LIBRARY_DIR", tmp_path)
    monkeypatch.delenv("REFTORCH_BUILD", raising=False)
    return module


def pretend_built(load: ModuleType, *build_types: str, suffix: str = SUFFIX) -> None:
    for build_type in build_types:
        (load.LIBRARY_DIR / build_type).mkdir()
        (load.LIBRARY_DIR / build_type / f"_C{suffix}").touch()


def test_debug_is_the_default_and_any_build_is_better_than_none(load: ModuleType) -> None:
    pretend_built(load, "Release")
    assert load.chosen_extension().parent.name == "Release"
    pretend_built(load, "Debug")
    assert load.chosen_extension().parent.name == "Debug"


def test_release_is_the_default_of_an_installed_package(
    load: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "LIBRARY_DIR", tmp_path / "lib")
    for name in ("lib", "cpp"):
        (tmp_path / name).mkdir()
    pretend_built(load, "Debug", "Release")
    assert load.chosen_extension().parent.name == "Release"
    monkeypatch.setenv("REFTORCH_BUILD", "debug")
    assert load.chosen_extension().parent.name == "Debug"


def test_the_environment_chooses(load: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_built(load, "Debug", "Release")
    monkeypatch.setenv("REFTORCH_BUILD", "release")
    assert load.chosen_extension().parent.name == "Release"


def test_an_unknown_build_is_a_value_error(load: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFTORCH_BUILD", "fast")
    with pytest.raises(ValueError, match="REFTORCH_BUILD is 'fast'; expected one of: debug, release, sanitize"):
        load.chosen_extension()


def test_a_missing_build_says_how_to_make_it(load: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImportError, match=r"reftorch is not built.*Run: make debug"):
        load.chosen_extension()
    pretend_built(load, "Debug")
    monkeypatch.setenv("REFTORCH_BUILD", "release")
    with pytest.raises(ImportError, match="Run: make release"):
        load.chosen_extension()


def test_a_build_of_another_python_is_named(load: ModuleType) -> None:
    pretend_built(load, "Debug", suffix=".cpython-399-x86_64-linux-gnu.so")
    with pytest.raises(ImportError, match=r"_C\.cpython-399-x86_64-linux-gnu\.so, which another Python made"):
        load.chosen_extension()


def test_a_broken_extension_leaves_no_module_behind(load: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "reftorch._C", raising=False)
    pretend_built(load, "Debug")
    with pytest.raises(ImportError):
        load.load()
    assert "reftorch._C" not in sys.modules


def test_import_does_not_need_numpy() -> None:
    """numpy takes far longer to import than all of reftorch; it is loaded where an array is asked for."""
    code = "import sys, reftorch; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, env=os.environ | {"PYTHONWARNINGS": "error"})
