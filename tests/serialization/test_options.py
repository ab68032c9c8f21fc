"""The options that hold for the whole process or for a context.

Mirrors: test/test_serialization.py
"""

import io
import mmap
import threading
import types
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import serialization
from reftorch.utils.serialization import config


@pytest.mark.parametrize("writer", ["ours", "torch"])
@pytest.mark.parametrize("reader", ["ours", "torch"])
def test_room_for_bytes_that_come_later(real_torch: ModuleType, tmp_path: Path, writer: str, reader: str) -> None:
    libraries = {"ours": reftorch, "torch": real_torch}
    path = tmp_path / "x.pt"
    with libraries[writer].serialization.skip_data():
        libraries[writer].save([libraries[writer].ones(1000), libraries[writer].ones(3)], path)
    assert [x.tolist() for x in libraries[reader].load(path)] == [[0.0] * 1000, [0.0] * 3]


def test_skipping_when_loading(real_torch: ModuleType) -> None:
    for library in (reftorch, real_torch):
        for zipped in (True, False):
            file = io.BytesIO()
            library.save(library.ones(2, 3), file, _use_new_zipfile_serialization=zipped)
            with library.serialization.skip_data():
                assert library.load(io.BytesIO(file.getvalue())).shape == (2, 3)
        with library.serialization.skip_data(), pytest.raises(RuntimeError, match="Cannot use skip_data=True"):
            library.save(1, io.BytesIO(), _use_new_zipfile_serialization=False)


def test_skipping_is_of_one_thread() -> None:
    file = io.BytesIO()
    reftorch.save(reftorch.ones(2), file)
    loaded: list[Any] = []
    with serialization.skip_data():
        thread = threading.Thread(target=lambda: loaded.append(reftorch.load(io.BytesIO(file.getvalue()))))
        thread.start()
        thread.join()
    assert loaded[0].tolist() == [1, 1]


def test_a_shared_map_writes_the_file(tmp_path: Path, real_torch: ModuleType) -> None:
    for library in (reftorch, real_torch):
        path = tmp_path / "x.pt"
        library.save(library.ones(3), path)
        with library.serialization.set_default_mmap_options(mmap.MAP_SHARED):
            assert library.serialization.get_default_mmap_options() == mmap.MAP_SHARED
            x = library.load(path, mmap=True)
            x += 1
        assert library.serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
        x = library.load(path, mmap=True)
        x += 1
        del x
        with real_torch.serialization.set_default_mmap_options(mmap.MAP_PRIVATE):
            assert real_torch.load(path).tolist() == [2, 2, 2]
        with pytest.raises(ValueError, match=r"expected mmap\.MAP_PRIVATE or mmap\.MAP_SHARED"):
            library.serialization.set_default_mmap_options(17)


def test_mapping_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config.load, "mmap", True)
    path = tmp_path / "x.pt"
    reftorch.save(reftorch.ones(3), path)
    assert not reftorch.load(path).untyped_storage().resizable()
    assert reftorch.load(path, mmap=False).untyped_storage().resizable()
    reftorch.save(reftorch.ones(3), path, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved with"):
        reftorch.load(path)


def test_alignment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_torch: ModuleType) -> None:
    monkeypatch.setattr(config.save, "storage_alignment", 4096)
    path = tmp_path / "x.pt"
    reftorch.save([reftorch.ones(3), reftorch.ones(5)], path)
    assert [x.data_ptr() % 4096 for x in reftorch.load(path, mmap=True)] == [0, 0]
    assert real_torch.load(path)[1].tolist() == [1] * 5


def test_the_byte_order_option_is_checked(real_torch: ModuleType) -> None:
    for library in (reftorch, real_torch):
        assert library.serialization.get_default_load_endianness() is None
        with pytest.raises(TypeError, match="Invalid argument type in function set_default_load_endianness"):
            library.serialization.set_default_load_endianness("little")
        assert [kind.name for kind in library.serialization.LoadEndianness] == ["NATIVE", "LITTLE", "BIG"]


def test_versions_of_modules(real_torch: ModuleType) -> None:
    for library in (reftorch, real_torch):
        check = library.serialization.check_module_version_greater_or_equal
        module = types.SimpleNamespace(__name__="m", __version__="1.10.rc")
        assert check(module, (1, 9)) and check(module, (1, 10)) and not check(module, (2,))
        with pytest.raises(RuntimeError, match=r"'m' module version string is malformed '1\.10\.rc'"):
            check(module, (1, 10, 0))
        with pytest.warns(UserWarning, match="continuing assuming that requirement is met"):
            assert check(module, (1, 10, 0), error_if_malformed=False)


def test_an_old_dill_is_refused(real_torch: ModuleType) -> None:
    dill = types.SimpleNamespace(__name__="dill", __version__="0.2.9")
    for library in (reftorch, real_torch):
        with pytest.raises(ValueError, match=r"supports dill >= .*0.3.1"):
            library.save(1, io.BytesIO(), pickle_module=dill)
        with pytest.raises(ValueError, match=r"supports dill >= .*0.3.1"):
            library.load(io.BytesIO(), pickle_module=dill, weights_only=False)


@pytest.mark.parametrize(
    ("always", "never", "argument", "trusts"),
    [("1", None, False, False), ("yes", None, None, False), (None, "1", None, True), (None, "1", True, False)],
)
def test_the_environment_decides(
    monkeypatch: pytest.MonkeyPatch,
    real_torch: ModuleType,
    always: str | None,
    never: str | None,
    argument: bool | None,
    trusts: bool,
) -> None:
    for name, value in (("", always), ("NO_", never)):
        if value is not None:
            monkeypatch.setenv(f"TORCH_FORCE_{name}WEIGHTS_ONLY_LOAD", value)
    for library in (reftorch, real_torch):
        file = io.BytesIO()
        library.save(types.SimpleNamespace(x=1), file)
        file.seek(0)
        if trusts:
            with pytest.warns(UserWarning, match="forcing weights_only=False"):
                assert library.load(file, weights_only=argument).x == 1
        else:
            with pytest.raises(Exception, match=r"types.SimpleNamespace was not an allowed global"):
                library.load(file, weights_only=argument)
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    for library in (reftorch, real_torch):
        with pytest.raises(RuntimeError, match="Only one of"):
            library.load(io.BytesIO())


def test_a_folder_for_a_while() -> None:
    with serialization.mkdtemp() as folder:
        (Path(folder) / "x").write_text("")
    assert not Path(folder).exists()
