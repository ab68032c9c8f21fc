"""The formats before the zip archive, as torch reads them and as old programs wrote them.

Mirrors: test/test_serialization.py (the legacy formats)
"""

import io
import pickle
import struct
import tarfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.serialization import MAGIC_NUMBER, PROTOCOL_VERSION, SourceChangeWarning


def saved(obj: Any) -> bytes:
    file = io.BytesIO()
    reftorch.save(obj, file, _use_new_zipfile_serialization=False)
    return file.getvalue()


class Named:
    """Is pickled as a name of torch, which a file of 2016 contains."""

    def __init__(self, name: str) -> None:
        self.name = name


class OldPickler(pickle._Pickler):  # type: ignore[misc, name-defined]
    """Writes names of torch, and persistent ids that the test chooses."""

    dispatch = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]

    def persistent_id(self, obj: Any) -> Any:
        return obj.id if isinstance(obj, Persistent) else None

    def save_named(self, obj: Named) -> None:
        module, _, name = obj.name.rpartition(".")
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())

    dispatch[Named] = save_named


class Persistent:
    def __init__(self, id: Any) -> None:
        self.id = id


def pickled(*objects: Any) -> bytes:
    file = io.BytesIO()
    for obj in objects:
        OldPickler(file, protocol=2).dump(obj)
    return file.getvalue()


def legacy(storages: list[tuple[str, list[float]]], obj: Any, little: bool = True) -> bytes:
    """A file of the old format with float storages."""
    order = "<" if little else ">"
    system = {"protocol_version": PROTOCOL_VERSION, "little_endian": little, "type_sizes": {}}
    data = pickled(MAGIC_NUMBER, PROTOCOL_VERSION, system, obj, [key for key, _ in storages])
    for _, values in storages:
        data += struct.pack(f"{order}q{len(values)}f", len(values), *values)
    return data


class Rebuilt:
    """A call that the pickle contains."""

    def __init__(self, function: str, *args: Any) -> None:
        self.function, self.args = function, args


def _save_rebuilt(self: Any, obj: Rebuilt) -> None:
    self.save(Named(obj.function))
    self.save(obj.args)
    self.write(pickle.REDUCE)


OldPickler.dispatch[Rebuilt] = _save_rebuilt


def storage(key: str, numel: int, view: Any = None, location: str = "cpu") -> Persistent:
    return Persistent(("storage", Named("torch.FloatStorage"), key, location, numel, view))


def tensor(of: Persistent, offset: int, *size: int) -> Rebuilt:
    strides = tuple(range(len(size), 0, -1)) if len(size) < 2 else (size[1], 1)
    return Rebuilt("torch._utils._rebuild_tensor", of, offset, size, strides)


def test_views_of_storages_share_memory(real_torch: ModuleType) -> None:
    """Files of the first versions name parts of storages, which later versions do not have."""
    root, part = storage("7", 4), storage("7", 4, ("8", 1, 2))
    file = legacy([("7", [1.0, 2.0, 3.0, 4.0])], [tensor(root, 0, 4), tensor(part, 0, 2)])
    for library in (reftorch, real_torch):
        whole, view = library.load(io.BytesIO(file))
        assert view.tolist() == [2.0, 3.0]
        whole[1] = 9
        assert view.tolist() == [9.0, 3.0]
        del whole
        assert view.tolist() == [9.0, 3.0]


def test_a_view_outside_of_its_storage_is_refused() -> None:
    for view in (("8", 3, 2), ("8", -1, 2), ("8", 0, -1), ("8", 0, "2"), 5):
        file = legacy([("7", [1.0, 2.0, 3.0, 4.0])], tensor(storage("7", 4, view), 0, 2))
        with pytest.raises((RuntimeError, pickle.UnpicklingError), match="expected"):
            reftorch.load(io.BytesIO(file))


def test_a_file_of_a_machine_of_the_other_byte_order() -> None:
    file = legacy([("7", [1.0, 2.5])], tensor(storage("7", 2), 0, 2), little=False)
    assert reftorch.load(io.BytesIO(file)).tolist() == [1.0, 2.5]


def test_storages_are_not_larger_than_the_file() -> None:
    for numel in (10, 10**6, 2**60):
        file = legacy([("7", [1.0])], tensor(storage("7", numel), 0, 1))
        with pytest.raises(RuntimeError, match=r"The file is not complete|has 1 elements, expected 10"):
            reftorch.load(io.BytesIO(file))


@pytest.mark.parametrize("length", [0, 1, 20, 40, 100, 200, 260])
def test_a_truncated_file_is_an_error(length: int) -> None:
    whole = saved(reftorch.ones(10))
    assert len(whole) > 260
    with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError)):
        reftorch.load(io.BytesIO(whole[:length]))


def test_a_file_of_something_else() -> None:
    with pytest.raises(RuntimeError, match="Invalid magic number"):
        reftorch.load(io.BytesIO(pickled(5)))
    with pytest.raises(RuntimeError, match="Invalid protocol version: 5"):
        reftorch.load(io.BytesIO(pickled(MAGIC_NUMBER, 5)))
    with pytest.raises(RuntimeError, match="that its pickle does not name"):
        reftorch.load(io.BytesIO(legacy([("7", [1.0])], 5)))


def test_locations_of_old_files() -> None:
    file = legacy([("7", [1.0])], tensor(storage("7", 1, location="cuda:0"), 0, 1))
    with pytest.raises(RuntimeError, match="map your storages to the CPU"):
        reftorch.load(io.BytesIO(file))
    assert reftorch.load(io.BytesIO(file), map_location="cpu").tolist() == [1]
    assert reftorch.load(io.BytesIO(file), map_location={"cuda:0": "meta"}).is_meta
    assert reftorch.load(io.BytesIO(file), map_location=lambda storage, location: storage).tolist() == [1]


class Container:
    """Stands for a module whose source the file contains."""


def test_the_source_of_a_module_is_compared() -> None:
    ids = ("module", Container, "there.py", "class Container: pass")
    file = legacy([], Persistent(ids))
    with pytest.warns(SourceChangeWarning, match="source code of class .*Container' has changed"):
        assert reftorch.load(io.BytesIO(file), weights_only=False) is Container
    unknown = legacy([], Persistent(("module", Container, None, None)))
    assert reftorch.load(io.BytesIO(unknown), weights_only=False) is Container
    with pytest.raises(pickle.UnpicklingError):
        reftorch.load(io.BytesIO(file))


def test_a_whole_module_in_a_file_of_torch(real_torch: ModuleType) -> None:
    """torch writes the source of its classes, which cannot be the source of ours."""
    file = io.BytesIO()
    real_torch.save(real_torch.nn.Linear(2, 1), file, _use_new_zipfile_serialization=False)
    file.seek(0)
    assert type(reftorch.load(file, weights_only=False)) is reftorch.nn.Linear


def tar(path: Path) -> Path:
    """A file as torch 0.1.1 wrote it: a tensor of 2x2 on a storage of 6, and a view of the storage."""
    storages = pickled(1, (11, "cpu", Named("torch.FloatStorage"))) + struct.pack("<q6f", 6, *range(6))
    storages += pickled([(12, 11, 2, 3)])
    tensors = pickled(2)
    tensors += pickled((21, 11, Named("torch.FloatTensor"))) + struct.pack("<ixxxx5q", 2, 2, 2, 2, 1, 1)
    tensors += pickled((22, 12, Named("torch.FloatTensor"))) + struct.pack("<ixxxx3q", 1, 3, 1, 0)
    parts = {"storages": storages, "tensors": tensors, "pickle": pickled({"x": Persistent(21), "y": Persistent(22)})}
    with tarfile.open(path, "w:", format=tarfile.PAX_FORMAT) as archive:
        for name, data in parts.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def test_the_tar_archive_of_the_first_alphas(tmp_path: Path, real_torch: ModuleType) -> None:
    path = tar(tmp_path / "old.tar")
    for library in (reftorch, real_torch):
        loaded = library.load(path, weights_only=False)
        assert loaded["x"].tolist() == [[1, 2], [3, 4]] and loaded["y"].tolist() == [2, 3, 4]
        loaded["x"][0, 1] = 9
        assert loaded["y"].tolist() == [9, 3, 4]
        with pytest.raises(RuntimeError, match=r"Cannot use ``weights_only=True`` with files saved in the legacy .tar"):
            library.load(path)


def test_a_tar_archive_of_something_else(tmp_path: Path) -> None:
    path = tmp_path / "other.tar"
    with tarfile.open(path, "w:") as archive:
        archive.addfile(tarfile.TarInfo("readme"), io.BytesIO(b""))
    with pytest.raises(pickle.UnpicklingError, match="the tar archive has no file storages"):
        reftorch.load(path, weights_only=False)
