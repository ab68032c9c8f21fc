"""Files keep every bit, from torch to here, from here to torch, and back to the library that wrote them.

The tensors have drawn bits, so that numbers that are not usual (NaNs with a payload, -0.0, subnormal numbers) are among
them. What is compared is the bytes of whole storages, and what each tensor reads of which storage.

Mirrors: test/test_serialization.py
"""

import io
import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.serialization.test_loading import MODULES, OPTIMIZERS
from tests.serialization.test_serialization import DTYPES

ITEM_BYTES = {"bool": 1, "uint8": 1, "int8": 1, "int16": 2, "float16": 2, "bfloat16": 2, "int32": 4, "float32": 4}


def drawn(lib: ModuleType, dtype: str, count: int) -> Any:
    """A tensor of drawn bits."""
    data = random.Random(dtype).randbytes(count * ITEM_BYTES.get(dtype, 8))
    if dtype == "bool":
        data = bytes(byte & 1 for byte in data)
    return lib.tensor(list(data), dtype=lib.uint8).view(getattr(lib, dtype))


def tensors(lib: ModuleType, dtype: str) -> dict[str, Any]:
    """Views that share a storage, and tensors with a storage of their own."""
    base = drawn(lib, dtype, 24)
    return {
        "base": base,
        "matrix": base.view(4, 6),
        "rows": base.view(4, 6)[1:3],
        "columns": base.view(4, 6)[:, ::2],
        "turned": base.view(4, 6).t(),
        "one": base[5],
        "repeated": base[3].expand(7),
        "other": drawn(lib, dtype, 5),
        "scalar": drawn(lib, dtype, 1)[0].clone(),
        "empty": base[:0],
        "alone": lib.empty(0, 3, dtype=getattr(lib, dtype)),
    }


def facts(obj: Any, storages: dict[int, int] | None = None) -> Any:
    """Everything that a file must keep: bytes, geometry, and which tensors share memory."""
    storages = {} if storages is None else storages
    if isinstance(obj, dict):
        return type(obj).__name__, [(key, facts(value, storages)) for key, value in obj.items()]
    if isinstance(obj, (list, tuple)):
        return type(obj).__name__, [facts(value, storages) for value in obj]
    if not hasattr(obj, "untyped_storage"):
        return obj
    storage = obj.untyped_storage()
    number = storages.setdefault(storage._cdata, len(storages))
    kind = (type(obj).__name__, str(obj.dtype), obj.requires_grad, str(obj.device))
    geometry = (tuple(obj.shape), obj.stride(), obj.storage_offset())
    return kind, geometry, number, bytes(storage.tolist())


def to_file_object(lib: ModuleType, path: Path, obj: Any, **options: Any) -> None:
    with open(path, "wb") as file:
        lib.save(obj, file, **options)


def to_bytes(lib: ModuleType, path: Path, obj: Any, **options: Any) -> None:
    file = io.BytesIO()
    lib.save(obj, file, **options)
    path.write_bytes(file.getvalue())


def from_file_object(lib: ModuleType, path: Path, **options: Any) -> Any:
    with open(path, "rb") as file:
        return lib.load(file, **options)


WAYS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "a path": (lambda lib, path, obj: lib.save(obj, path), lambda lib, path: lib.load(path)),
    "an open file": (to_file_object, from_file_object),
    "bytes": (to_bytes, lambda lib, path: lib.load(io.BytesIO(path.read_bytes()))),
    "mapped": (lambda lib, path, obj: lib.save(obj, path), lambda lib, path: lib.load(path, mmap=True)),
    "map_location": (to_bytes, lambda lib, path: lib.load(path, map_location={"cpu": "cpu"})),
    "with code": (to_bytes, lambda lib, path: lib.load(path, weights_only=False)),
    "legacy": (
        lambda lib, path, obj: lib.save(obj, path, _use_new_zipfile_serialization=False),
        lambda lib, path: lib.load(path),
    ),
    "legacy, open file": (
        lambda lib, path, obj: to_file_object(lib, path, obj, _use_new_zipfile_serialization=False),
        lambda lib, path: from_file_object(lib, path, weights_only=False),
    ),
}


def everything(lib: ModuleType) -> dict[str, Any]:
    return {dtype: tensors(lib, dtype) for dtype in DTYPES}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ends", ["from here to torch", "from torch to here", "here", "torch and back"])
def test_tensors(real_torch: ModuleType, tmp_path: Path, ends: str, way: str) -> None:
    save, load = WAYS[way]
    here, there = tmp_path / "here.pt", tmp_path / "there.pt"
    expected = facts(everything(real_torch))
    assert facts(everything(reftorch)) == expected
    if ends == "from torch to here":
        save(real_torch, here, everything(real_torch))
        loaded = load(reftorch, here)
    else:
        save(reftorch, here, everything(reftorch))
        loaded = load(real_torch if ends != "here" else reftorch, here)
        if ends == "torch and back":
            save(real_torch, there, loaded)
            loaded = load(reftorch, there)
    assert facts(loaded) == expected


def stepped(lib: ModuleType, name: str) -> dict[str, Any]:
    """An optimizer after two steps, and its parameters."""
    parameters = [lib.nn.Parameter(lib.linspace(-1, 1, 5)), lib.nn.Parameter(lib.ones(2, 2))]
    optimizer = getattr(lib.optim, name)(parameters, lr=0.1, **({"momentum": 0.9} if name == "SGD" else {}))
    for _ in range(2):
        optimizer.zero_grad()
        loss: Any = sum((p * p).sum() for p in parameters)
        loss.backward()
        optimizer.step()
    return {"parameters": parameters, "optimizer": optimizer, "state": optimizer.state_dict()}


@pytest.mark.parametrize("ours_writes", [True, False], ids=["to torch", "from torch"])
@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
@pytest.mark.parametrize("name", MODULES)
@pytest.mark.filterwarnings("ignore:source code of class")  # a legacy file of torch has the source of torch's classes
def test_modules(real_torch: ModuleType, tmp_path: Path, name: str, zipped: bool, ours_writes: bool) -> None:
    """A whole module, its state_dict, and parameters that are tied to those of another module."""
    here, there = (reftorch, real_torch) if ours_writes else (real_torch, reftorch)
    here.manual_seed(3)
    module = MODULES[name](here.nn)
    state = module.state_dict()
    tied = {"first": list(module.parameters()), "second": [p.detach() for p in module.parameters()]}
    path = tmp_path / "x.pt"
    here.save({"module": module, "state": state, "tied": tied}, path, _use_new_zipfile_serialization=zipped)
    loaded = there.load(path, weights_only=False)
    assert facts([loaded["state"], loaded["tied"]]) == facts([state, tied])
    assert facts(dict(loaded["module"].state_dict())) == facts(dict(state))
    here.save(state, path, _use_new_zipfile_serialization=zipped)
    assert facts(there.load(path)) == facts(state)


@pytest.mark.parametrize("ours_writes", [True, False], ids=["to torch", "from torch"])
@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(
    real_torch: ModuleType, tmp_path: Path, name: str, zipped: bool, ours_writes: bool, noted: Any
) -> None:
    here, there = (reftorch, real_torch) if ours_writes else (real_torch, reftorch)
    written = stepped(here, name)
    path = tmp_path / "x.pt"
    here.save(written, path, _use_new_zipfile_serialization=zipped)
    loaded = there.load(path, weights_only=False)
    assert facts([loaded["parameters"], loaded["state"]]) == facts([written["parameters"], written["state"]])
    assert facts(loaded["optimizer"].state_dict()) == noted(facts(written["state"]))
    here.save(written["state"], path, _use_new_zipfile_serialization=zipped)
    assert facts(there.load(path)) == facts(written["state"])


@pytest.mark.parametrize("dtype", DTYPES)
def test_safetensors(real_torch: ModuleType, tmp_path: Path, dtype: str) -> None:
    """A file of the library of safetensors, and our tensors written by that library."""
    from safetensors import numpy as safe_numpy
    from safetensors import torch as safe_torch

    path = tmp_path / "x.safetensors"
    state = {"x": drawn(real_torch, dtype, 6).view(2, 3), "w": real_torch.ones(3), "i": real_torch.arange(2)}
    state |= {"none": real_torch.empty(0, dtype=getattr(real_torch, dtype))}
    safe_torch.save_file(state, path)
    assert facts(reftorch.load(path)) == facts(real_torch.load(path))  # the order of the keys is equal, too
    assert all(facts(x) == facts(state[name]) for name, x in reftorch.load(path).items())
    if dtype != "bfloat16":  # numpy lacks it
        safe_numpy.save_file({"x": drawn(reftorch, dtype, 6).view(2, 3).numpy()}, path)
        assert facts(safe_torch.load_file(path)["x"]) == facts(state["x"])
