"""Whole modules and optimizers of either library, safetensors, and files of something else.

Mirrors: test/test_serialization.py
"""

import io
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import reftorch

MODULES: dict[str, Any] = {
    "Linear": lambda nn: nn.Linear(3, 2),
    "Sequential": lambda nn: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.0), nn.Linear(4, 1), nn.GELU()),
    "LayerNorm": lambda nn: nn.LayerNorm(3),
    "BatchNorm1d": lambda nn: nn.BatchNorm1d(3),
    "Conv1d": lambda nn: nn.Conv1d(1, 2, 2, padding=1),
    "ModuleDict": lambda nn: nn.Sequential(nn.ModuleDict({"a": nn.Linear(3, 2)})["a"], nn.Sigmoid()),
    "PReLU": lambda nn: nn.PReLU(),
    "TransformerEncoderLayer": lambda nn: nn.TransformerEncoderLayer(3, 1, 4, dropout=0.0),
}


def through(save: Any, load: Any, obj: Any) -> Any:
    file = io.BytesIO()
    save(obj, file)
    file.seek(0)
    return load(file, weights_only=False)


@pytest.mark.parametrize("ours_writes", [True, False], ids=["to torch", "from torch"])
@pytest.mark.parametrize("name", MODULES)
def test_a_whole_module(real_torch: ModuleType, name: str, ours_writes: bool) -> None:
    here, there = (reftorch, real_torch) if ours_writes else (real_torch, reftorch)
    here.manual_seed(0)
    module = MODULES[name](here.nn)
    again = through(here.save, there.load, module)
    assert type(again).__module__.partition(".")[0] == there.__name__
    for mode in (True, False):
        x = [t.arange(6.0).view((1, 2, 3) if name != "Conv1d" else (2, 1, 3)) for t in (here, there)]
        x = [t.view(-1, 3) if name == "BatchNorm1d" else t for t in x]
        y = [m.train(mode)(t).flatten().tolist() for m, t in zip((module, again), x, strict=True)]
        assert y[0] == pytest.approx(y[1], abs=1e-5)


OPTIMIZERS = ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "Adadelta", "Adamax", "Rprop", "ASGD", "RAdam"]


@pytest.mark.parametrize("ours_writes", [True, False], ids=["to torch", "from torch"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_whole_optimizer(real_torch: ModuleType, name: str, ours_writes: bool) -> None:
    here, there = (reftorch, real_torch) if ours_writes else (real_torch, reftorch)
    parameter = here.nn.Parameter(here.ones(3))
    optimizer = getattr(here.optim, name)([parameter], lr=0.1, **({"momentum": 0.9} if name == "SGD" else {}))

    def step(optimizer: Any, parameter: Any) -> None:
        optimizer.zero_grad()
        (parameter * parameter).sum().backward()
        optimizer.step()

    step(optimizer, parameter)
    again = through(here.save, there.load, {"optimizer": optimizer, "parameter": parameter})
    assert again["optimizer"].param_groups[0]["params"][0] is again["parameter"]
    for _ in range(3):
        step(optimizer, parameter)
        step(again["optimizer"], again["parameter"])
    assert parameter.tolist() == pytest.approx(again["parameter"].tolist(), abs=1e-6)
    file = io.BytesIO()
    here.save(optimizer.state_dict(), file)
    file.seek(0)
    again["optimizer"].load_state_dict(there.load(file))
    assert again["optimizer"].state_dict()["param_groups"] == optimizer.state_dict()["param_groups"]


def test_a_class_that_this_library_lacks(real_torch: ModuleType) -> None:
    file = io.BytesIO()
    real_torch.save(real_torch.ao.quantization.MinMaxObserver(), file)
    file.seek(0)
    with pytest.raises(AttributeError, match=r"MinMaxObserver of PyTorch, which this library lacks"):
        reftorch.load(file, weights_only=False)


def test_torchscript_is_refused(real_torch: ModuleType) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as target:
        target.writestr("archive/data.pkl", b"\x80\x02N.")
        target.writestr("archive/constants.pkl", b"\x80\x02N.")
        target.writestr("archive/version", b"3\n")
    with pytest.raises(RuntimeError, match="TorchScript archive"):
        reftorch.load(io.BytesIO(file.getvalue()))
    for library in (reftorch, real_torch):
        with pytest.raises(ValueError, match="got a torchscript checkpoint"):
            library.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(file.getvalue()))


def test_a_file_that_is_not_seekable() -> None:
    class Pipe(io.BytesIO):
        def seek(self, *args: Any) -> int:
            raise io.UnsupportedOperation("seek")

    with pytest.raises(io.UnsupportedOperation, match=r"You can only torch.load from a file that is seekable"):
        reftorch.load(Pipe())


SAFE_DTYPES = ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]


def test_safetensors_both_ways(tmp_path: Path) -> None:
    """The package writes what this library gives it as numpy arrays; load reads the file by its name, as in torch."""
    from safetensors import numpy as safe_numpy

    path = tmp_path / "model.safetensors"
    state = {name: reftorch.ones(2, 3, dtype=getattr(reftorch, name)) for name in SAFE_DTYPES}
    state["scalar"], state["empty"] = reftorch.tensor(2.5), reftorch.zeros(0, 2)
    safe_numpy.save_file({name: x.numpy() for name, x in state.items()}, path)
    loaded = reftorch.load(path)
    assert set(loaded) == set(state)
    for name, x in state.items():
        assert loaded[name].dtype == x.dtype and reftorch.equal(loaded[name], x)
    assert reftorch.load(path, map_location=reftorch.device("meta"))["scalar"].is_meta
    for where in ({"cpu": "cpu"}, lambda storage, location: storage):
        with pytest.raises(RuntimeError, match="map_location is not supported"):
            reftorch.load(path, map_location=where)
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(RuntimeError, match="is not a safetensors file, or is damaged"):
        reftorch.load(path)


def test_safetensors_of_torch(real_torch: ModuleType, tmp_path: Path) -> None:
    from safetensors import numpy as safe_numpy
    from safetensors import torch as safe_torch

    path = str(tmp_path / "model.safetensors")
    safe_torch.save_file({"half": real_torch.full((2,), 1.5, dtype=real_torch.bfloat16)}, path)
    half = reftorch.load(path, map_location="cpu")["half"]
    assert half.dtype == reftorch.bfloat16 and half.tolist() == [1.5, 1.5]
    safe_numpy.save_file({"x": reftorch.arange(6.0).view(2, 3).numpy()}, path)
    assert real_torch.load(path)["x"].tolist() == reftorch.load(path)["x"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_safetensors_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "safetensors", None)
    with pytest.raises(RuntimeError, match="pip install safetensors"):
        reftorch.load(tmp_path / "model.safetensors")


def with_geometry(size: tuple[int, ...], stride: tuple[int, ...], offset: int, legacy: bool) -> io.BytesIO:
    """A file of ten elements whose tensor has another geometry than the tensor that was saved."""

    class Claimed(reftorch.Tensor):
        def __reduce_ex__(self, protocol: Any) -> Any:
            function, (storage, _, _, _, *rest) = reftorch.arange(10.0).__reduce_ex__(protocol)
            return function, (storage, offset, size, stride, *rest)

    file = io.BytesIO()
    reftorch.save(reftorch.ones(1).as_subclass(Claimed), file, _use_new_zipfile_serialization=not legacy)
    file.seek(0)
    return file


@pytest.mark.parametrize("legacy", [False, True], ids=["zip", "legacy"])
@pytest.mark.parametrize("weights_only", [False, True])
def test_a_tensor_is_not_larger_than_its_storage(legacy: bool, weights_only: bool) -> None:
    for size, stride, offset in (((100,), (1,), 0), ((2,), (1,), 100), ((2, 2), (1, 10), 0), ((2**55,), (4,), 0)):
        with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
            reftorch.load(with_geometry(size, stride, offset, legacy), weights_only=weights_only)
    for size, stride, offset in (((2, 5), (5, 1), 0), ((3,), (3,), 3), ((0,), (1,), 99), ((100,), (0,), 9)):
        loaded = reftorch.load(with_geometry(size, stride, offset, legacy), weights_only=weights_only)
        assert loaded.shape == size and loaded.untyped_storage().nbytes() == 40
