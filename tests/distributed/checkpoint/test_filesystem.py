"""The files of a checkpoint: PyTorch reads ours, and we read PyTorch's.

Mirrors: test/distributed/checkpoint/test_file_system_checkpoint_cpu.py
"""

from __future__ import annotations

import importlib
import pickle
from pathlib import Path
from typing import Any

import pytest

import reftorch as torch
import reftorch.distributed.checkpoint as dcp
from tests.answers.watched import asked

pytestmark = pytest.mark.filterwarnings("ignore")  # there is no process group; torch's package warns when imported


def values(lib: Any) -> dict[str, Any]:
    return {
        "w": lib.arange(6.0).reshape(2, 3).t(),
        "half": lib.nn.Parameter(lib.ones(2, dtype=lib.bfloat16)),
        "optim": {"state": {0: {"step": lib.tensor(3)}}, "groups": [{"lr": 0.5, "betas": (0.9, 0.99)}]},
        "name": "x",
    }


def save(lib: Any, folder: str) -> bool:
    importlib.import_module(f"{lib.__name__}.distributed.checkpoint").save(values(lib), checkpoint_id=folder)
    return True


def load(lib: Any, folder: str) -> list[Any]:
    state = values(lib)
    for tensor in (state["w"], state["half"].data, state["optim"]["state"][0]["step"]):
        tensor.zero_()
    state["optim"]["groups"][0]["lr"], state["name"] = 0.0, ""
    importlib.import_module(f"{lib.__name__}.distributed.checkpoint").load(state, checkpoint_id=folder)
    groups = [
        {key: value if key == "lr" else list(value) for key, value in g.items()} for g in state["optim"]["groups"]
    ]
    step = state["optim"]["state"][0]["step"].item()
    return [state["w"].tolist(), state["half"].tolist(), step, groups, state["name"]]


def test_files_cross_both_ways(real_torch: Any, tmp_path: Path) -> None:
    ours, theirs = str(tmp_path / "ours"), str(tmp_path / "theirs")
    save(torch, ours)
    assert asked(real_torch, lambda lib: save(lib, theirs))
    expected = [[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]], [1.0, 1.0], 3, [{"lr": 0.5, "betas": [0.9, 0.99]}], "x"]
    assert load(torch, ours) == load(torch, theirs) == expected
    assert asked(real_torch, lambda lib: load(lib, ours)) == expected


def save_in_a_thread(lib: Any, folder: str) -> list[str]:
    state = values(lib)
    dcp = importlib.import_module(f"{lib.__name__}.distributed.checkpoint")
    future = dcp.async_save(state, checkpoint_id=folder)
    state["w"].zero_()  # too late for the checkpoint
    state["optim"]["groups"][0]["lr"] = 0.0
    metadata = future.result()
    return [type(future).__module__, *sorted(metadata.state_dict_metadata)]


def test_files_that_a_thread_writes_cross_both_ways(real_torch: Any, tmp_path: Path) -> None:
    ours, theirs = str(tmp_path / "ours"), str(tmp_path / "theirs")
    assert save_in_a_thread(torch, ours) == asked(real_torch, lambda lib: save_in_a_thread(lib, theirs))
    expected = [[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]], [1.0, 1.0], 3, [{"lr": 0.5, "betas": [0.9, 0.99]}], "x"]
    assert load(torch, ours) == load(torch, theirs) == expected
    assert asked(real_torch, lambda lib: load(lib, ours)) == expected
    known = dcp.FileSystemReader(ours).read_metadata().state_dict_metadata
    assert known == dcp.FileSystemReader(theirs).read_metadata().state_dict_metadata


def test_a_list_of_pieces_can_call_nothing(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return print, ("called",)

    for name, pickled in (("builtins.print", pickle.dumps(Evil())), ("torch.load", b"ctorch\nload\n.")):
        (tmp_path / ".metadata").write_bytes(pickled)
        with pytest.raises(dcp.CheckpointException) as error:
            dcp.load({}, checkpoint_id=tmp_path)
        assert f"the file names {name}, which" in str(error.value)
