"""Where storages go: map_location in all its forms, and devices that a program registers.

Mirrors: test/test_serialization.py (map_location)
"""

import io
import os
import pickle
import struct
import subprocess
import sys
import zipfile
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import serialization
from reftorch.serialization import locations
from tests.test__weights_only_unpickler import archive, glob, one, pid, rebuilt, text


def file_at(location: str) -> io.BytesIO:
    """A file with a tensor of two numbers whose storage was at a location."""
    storage = pid(text("storage"), glob("torch.FloatStorage"), text("0"), text(location), b"K\x02")
    return archive(rebuilt(b"K\x00", one(2), one(1), storage))


LOCATIONS: dict[str, Any] = {
    "a name": lambda lib: "cpu",
    "a device": lambda lib: lib.device("cpu"),
    "a dict": lambda lib: {"cuda:1": "cpu"},
    "a function": lambda lib: lambda storage, location: storage if location == "cuda:1" else None,
}


@pytest.mark.parametrize("kind", LOCATIONS)
def test_a_file_from_a_device_that_is_not_here(real_torch: ModuleType, kind: str) -> None:
    for library in (reftorch, real_torch):
        assert library.load(file_at("cuda:1"), map_location=LOCATIONS[kind](library)).tolist() == [1.5, 2.5]
        for where in (None, {"cpu": "cpu"}, lambda storage, location: None, {"cuda:1": "cuda:0"}):
            with pytest.raises(RuntimeError, match="map your storages to the CPU"):
                library.load(file_at("cuda:1"), map_location=where)


def test_the_function_sees_each_storage_once(real_torch: ModuleType) -> None:
    for library in (reftorch, real_torch):
        file = io.BytesIO()
        x = library.ones(3)
        library.save([x, x[1:], library.zeros(2)], file)
        file.seek(0)
        seen: list[Any] = []
        library.load(file, map_location=lambda storage, place, seen=seen: seen.append((storage.nbytes(), place)))
        assert seen == [(12, "cpu"), (8, "cpu")]


@pytest.mark.parametrize("zipped", [True, False])
def test_meta_needs_no_memory(real_torch: ModuleType, zipped: bool) -> None:
    for library in (reftorch, real_torch):
        file = io.BytesIO()
        library.save({"x": library.ones(2, 3)}, file, _use_new_zipfile_serialization=zipped)
        for where in ("meta", library.device("meta"), {"cpu": "meta"}):
            loaded = library.load(io.BytesIO(file.getvalue()), map_location=where)["x"]
            assert loaded.device == library.device("meta") and loaded.shape == (2, 3)


def test_an_unknown_location(real_torch: ModuleType) -> None:
    for library in (reftorch, real_torch):
        with pytest.raises(RuntimeError, match=r"don't know how to restore data location of .* \(tagged with attic\)"):
            library.load(file_at("attic"))
        with pytest.raises(RuntimeError, match="The HPU device module is not registered"):
            library.load(file_at("hpu:0"))
        with pytest.raises(RuntimeError, match="The HPU device module is not registered"):
            library.serialization.validate_hpu_device("hpu")
        with pytest.raises(RuntimeError, match=r"torch.cuda.is_available\(\) is False"):
            library.serialization.validate_cuda_device("cuda:0")


def test_a_device_that_a_program_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locations, "_package_registry", list(locations._package_registry))
    seen = []

    def restore(storage: Any, location: str) -> Any:
        if location != "attic":
            return None
        seen.append(storage.nbytes())
        return storage

    serialization.register_package(5, lambda storage: "attic" if storage.nbytes() == 12 else None, restore)
    file = io.BytesIO()
    reftorch.save([reftorch.ones(3), reftorch.ones(2)], file)
    with zipfile.ZipFile(file) as records:
        assert b"attic" in records.read("archive/data.pkl")
    file.seek(0)
    assert reftorch.load(file)[0].tolist() == [1, 1, 1] and seen == [12]
    assert serialization.location_tag(reftorch.UntypedStorage(12)) == "attic"
    assert serialization.location_tag(reftorch.UntypedStorage(11)) == "cpu"
    assert serialization.location_tag(reftorch.UntypedStorage(3, device="meta")) == "meta"


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_types_of_storages(real_torch: ModuleType) -> None:
    for library in (reftorch, real_torch):
        functions = library.serialization
        assert functions.normalize_storage_type(library.FloatStorage) is library.FloatStorage
        assert functions.normalize_storage_type(library.UntypedStorage) is library.UntypedStorage
        assert str(functions.StorageType("HalfStorage")) == "StorageType(dtype=torch.float16)"
        with pytest.raises(KeyError):
            functions.StorageType("NoStorage")
    # In torch an instance of LongStorage is a TypedStorage, for which this function fails.
    assert serialization.storage_to_tensor_type(reftorch.LongStorage(2)) is reftorch.LongTensor


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("recorded", [True, False])
def test_the_order_of_bytes(real_torch: ModuleType, order: str, recorded: bool) -> None:
    """A file of a machine with the other order; without a record, the default decides."""
    file = io.BytesIO()
    with zipfile.ZipFile(archive(rebuilt(b"K\x00", one(2), one(1)))) as source, zipfile.ZipFile(file, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("byteorder"):
                if recorded:
                    target.writestr(name, {"<": "little", ">": "big"}[order])
            else:
                target.writestr(name, struct.pack(f"{order}2f", 1.5, 2.5) if name.endswith("data/0") else data)
    for library in (reftorch, real_torch):
        kinds = library.serialization.LoadEndianness
        for default in (None, kinds.LITTLE, kinds.NATIVE, kinds.BIG):
            library.serialization.set_default_load_endianness(default)
            try:
                values = library.load(io.BytesIO(file.getvalue())).tolist()
            finally:
                library.serialization.set_default_load_endianness(None)
            big = order == ">" if recorded else default == kinds.BIG
            assert (values == [1.5, 2.5]) == (big == (order == ">"))


def test_an_order_that_does_not_exist() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as target:
        target.writestr("archive/data.pkl", b"\x80\x02N.")
        target.writestr("archive/byteorder", "middle")
    with pytest.raises(ValueError, match="Unknown endianness type"):
        reftorch.load(io.BytesIO(file.getvalue()))


ON_SIMULATED_DEVICES = """
import io, reftorch as torch
for zipped in (True, False):
    file = io.BytesIO()
    x = torch.arange(5.0, device="cuda:1")
    torch.save([x, x[2:]], file, _use_new_zipfile_serialization=zipped)
    def load(**options):
        return torch.load(io.BytesIO(file.getvalue()), **options)
    there, view = load()
    assert there.device == torch.device("cuda:1") and there.tolist() == [0, 1, 2, 3, 4], there
    there[2] = 9
    assert view.tolist() == [9, 3, 4]
    assert load(map_location="cuda:0")[1].device == torch.device("cuda:0")
    assert load(map_location={"cuda:1": "cuda:0"})[1].tolist() == [2, 3, 4]
    assert load(map_location=lambda storage, place: storage)[1].device.type == "cpu"
    try:
        load(map_location="cuda:7")
    except RuntimeError as error:
        assert "torch.cuda.device_count() is 2" in str(error)
assert torch.serialization.validate_cuda_device("cuda:1") == 1
print("done")
"""


@pytest.mark.skipif(not getattr(reftorch._C, "_cuda_is_simulated", False), reason="the build has no simulated devices")
def test_devices() -> None:
    environment = {**os.environ, "REFTORCH_CUDA_SIM": "2"}
    done = subprocess.run([sys.executable, "-c", ON_SIMULATED_DEVICES], env=environment, capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr


def test_pickles_of_python_2_in_bytes() -> None:
    """With ``encoding="bytes"``, the texts of the file are bytes, its keys and locations included."""
    short = [b"U" + bytes([len(part)]) + part.encode() for part in ("storage", "0", "cpu")]
    storage = pid(short[0], glob("torch.FloatStorage"), short[1], short[2], b"K\x02")
    file = archive(rebuilt(b"K\x00", one(2), one(1), storage))
    assert reftorch.load(file, weights_only=False, encoding="bytes").tolist() == [1.5, 2.5]
    with pytest.warns(UserWarning, match="pickle_load_args only works"):
        assert reftorch.load(file, encoding="bytes").tolist() == [1.5, 2.5]


def test_an_error_of_a_map_location_is_the_users() -> None:
    file = io.BytesIO()
    reftorch.save(reftorch.ones(1), file)
    for error, where in (
        (KeyError, lambda storage, place: {}[place]),
        (IndexError, lambda storage, place: [][0]),
        (TypeError, lambda storage, place: storage + place),
        (ZeroDivisionError, lambda storage, place: 1 // 0),
    ):
        file.seek(0)
        with pytest.raises(error):
            reftorch.load(file, map_location=where)


class Fussy:
    def __setstate__(self, state: dict[str, Any]) -> None:
        raise ValueError("not in this state")


def test_an_error_of_an_allowed_class_is_the_users() -> None:
    fussy, file = Fussy(), io.BytesIO()
    fussy.__dict__["x"] = 1
    reftorch.save(fussy, file)
    file.seek(0)
    with reftorch.serialization.safe_globals([Fussy]), pytest.raises(ValueError, match="not in this state"):
        reftorch.load(file)


@pytest.mark.parametrize(
    "name", ["torch.ComplexFloatStorage", "torch._utils._rebuild_sparse_tensor", "torch.nothing.At"]
)
def test_a_type_that_is_missing_here_is_named_without_useless_advice(name: str) -> None:
    storage = pid(text("storage"), glob(name), text("0"), text("cpu"), b"K\x02")
    with pytest.raises(pickle.UnpicklingError) as raised:
        reftorch.load(archive(rebuilt(b"K\x00", one(2), one(1), storage)))
    said = str(raised.value)
    assert f"the file contains {name} of PyTorch, which this library lacks" in said
    assert "weights_only" not in said and "add_safe_globals" not in said


def test_a_damaged_pickle_gets_no_advice_that_cannot_help() -> None:
    with pytest.raises(pickle.UnpicklingError, match=r"The file is damaged") as raised:
        reftorch.load(archive(b"\x80\x02]s."))
    assert "likely succeed" not in str(raised.value)
