"""Files: what is saved is loaded, here and in torch, and a file from anybody runs no code.

Mirrors: test/test_serialization.py
"""

import io
import os
import pickle
from collections import OrderedDict
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import serialization

DTYPES = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]


class NotATensor:
    def __init__(self) -> None:
        self.value = [1]


class RunsCode:
    def __reduce__(self) -> Any:
        return os.system, ("false",)


def through(save: Any, load: Any, obj: Any, **kwargs: Any) -> Any:
    file = io.BytesIO()
    save(obj, file, **kwargs)
    return load(io.BytesIO(file.getvalue()))


def everything(torch: ModuleType) -> dict[str, Any]:
    x = torch.arange(12.0).view(3, 4)
    contents: dict[str, Any] = {dtype: torch.ones(2, dtype=getattr(torch, dtype)) for dtype in DTYPES}
    contents |= {
        "views": [x, x[1:], x.t(), x[:, ::2]],
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "leaf": torch.ones(1, requires_grad=True),
        "empty": torch.empty(0, 3),
        "scalar": torch.tensor(2.5),
        "types": [torch.float16, torch.Size([1, 2]), torch.device("cpu")],
        "plain": OrderedDict(a=(1, "b", None, 2.5, True, b"c"), d={3}),
        "module": torch.nn.Linear(2, 1, bias=False).state_dict(),
    }
    contents["module"]["weight"].fill_(0.5)
    return contents


def shown(contents: dict[str, Any]) -> str:
    """Return a text of all contents, with the items of an OrderedDict, whose own text changed with Python 3.12."""
    return repr({key: [*of.items()] if isinstance(of, OrderedDict) else of for key, of in contents.items()})


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("writer", ["ours", "torch"])
@pytest.mark.parametrize("reader", ["ours", "torch"])
def test_files_of_either_library_are_read_by_either(
    real_torch: ModuleType, zipped: bool, writer: str, reader: str
) -> None:
    libraries = {"ours": reftorch, "torch": real_torch}
    write, read = libraries[writer], libraries[reader]
    loaded = through(write.save, read.load, everything(write), _use_new_zipfile_serialization=zipped)
    assert shown(loaded) == shown(everything(read))
    base, rows, *_ = loaded["views"]
    rows[0, 0] = 100
    assert base[1, 0] == 100 and loaded["views"][2].stride() == (1, 4)  # they share memory again


def test_a_path_and_an_open_file(tmp_path: Path) -> None:
    path = tmp_path / "weights.pt"
    reftorch.save(reftorch.arange(3), path)
    assert reftorch.load(path).tolist() == reftorch.load(str(path)).tolist() == [0, 1, 2]
    with open(path, "rb") as file:
        assert reftorch.load(file).tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match=r"Parent directory .* does not exist"):
        reftorch.save(1, tmp_path / "nowhere" / "x.pt")
    with pytest.raises(AttributeError, match="seekable"):
        reftorch.load(7)


def test_mmap_reads_the_file_and_never_writes_it(tmp_path: Path, real_torch: ModuleType) -> None:
    path = tmp_path / "x.pt"
    for library in (reftorch, real_torch):
        library.save([library.arange(100.0)], path)
        before = path.read_bytes()
        for reader in (reftorch, real_torch):
            [x] = reader.load(path, mmap=True)
            x += 1
            assert x.tolist() == [i + 1.0 for i in range(100)]
        assert path.read_bytes() == before
    with pytest.raises(ValueError, match="must be a file path"):
        reftorch.load(io.BytesIO(before), mmap=True)


def test_storages_lie_where_memory_can_be_mapped(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    reftorch.save([reftorch.ones(3), reftorch.ones(5)], path)
    [x, y] = reftorch.load(path, mmap=True)
    assert x.data_ptr() % 64 == 0 and y.data_ptr() % 64 == 0


def test_python_attributes_and_subclasses() -> None:
    x = reftorch.ones(2, requires_grad=True)
    x.note = "mine"  # type: ignore[attr-defined]
    assert through(reftorch.save, reftorch.load, x).note == "mine"
    assert pickle.loads(pickle.dumps(x)).note == "mine" and pickle.loads(pickle.dumps(x)).requires_grad


def test_code_is_not_run() -> None:
    file = io.BytesIO()
    reftorch.save([RunsCode()], file)
    with pytest.raises(pickle.UnpicklingError, match=r"unsupported GLOBAL posix.system whose module posix is blocked"):
        reftorch.load(io.BytesIO(file.getvalue()))
    assert serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(file.getvalue())) == ["posix.system"]


def test_a_class_may_be_called_safe() -> None:
    file = io.BytesIO()
    reftorch.save([NotATensor(), Fraction(1, 3)], file)
    with pytest.raises(pickle.UnpicklingError, match="add_safe_globals"):
        reftorch.load(io.BytesIO(file.getvalue()))
    with serialization.safe_globals([NotATensor, (Fraction, "fractions.Fraction")]):
        loaded = reftorch.load(io.BytesIO(file.getvalue()))
    assert loaded[0].value == [1] and loaded[1] == Fraction(1, 3)
    assert serialization.get_safe_globals() == []
    unsafe = reftorch.load(io.BytesIO(file.getvalue()), weights_only=False)
    assert type(unsafe[0]) is NotATensor


def test_a_whole_module_is_loaded_where_the_file_is_trusted() -> None:
    module = through(reftorch.save, lambda f: reftorch.load(f, weights_only=False), reftorch.nn.Linear(2, 1))
    assert type(module) is reftorch.nn.Linear and module(reftorch.ones(1, 2)).requires_grad


def test_map_location() -> None:
    file = io.BytesIO()
    reftorch.save(reftorch.ones(2), file)
    for location in ("cpu", reftorch.device("cpu"), {"cpu": "cpu"}, lambda storage, place: storage):
        assert reftorch.load(io.BytesIO(file.getvalue()), map_location=location).tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="map your storages to the CPU"):
        reftorch.load(io.BytesIO(file.getvalue()), map_location={"cpu": "cuda:0"})


def test_two_dtypes_on_one_memory_are_refused() -> None:
    x = reftorch.ones(4)
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        reftorch.save([x, x.view(reftorch.int32)], io.BytesIO())


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04broken", b"not a file of ours at all"])
def test_a_damaged_file_is_an_error(damage: bytes) -> None:
    with pytest.raises((EOFError, RuntimeError, pickle.UnpicklingError)):
        reftorch.load(io.BytesIO(damage))


def test_a_storage_shorter_than_the_pickle_says(tmp_path: Path) -> None:
    import zipfile

    whole, short = io.BytesIO(), io.BytesIO()
    reftorch.save(reftorch.ones(100), whole)
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(short, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, data[:10] if name.endswith("data/0") else data)
    with pytest.raises(RuntimeError, match="storage 0 has 10 bytes, expected 400"):
        reftorch.load(io.BytesIO(short.getvalue()))
