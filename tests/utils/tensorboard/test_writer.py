"""Logs for TensorBoard: each entry is the one that PyTorch writes, and the files are read by TensorBoard's own reader.

Mirrors: test/test_tensorboard.py
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

import reftorch as torch
from reftorch.utils.tensorboard import FileWriter, SummaryWriter, summary

PICTURE = np.linspace(-0.1, 1.1, 3 * 4 * 5).reshape(3, 4, 5)
VALUES = np.concatenate([np.linspace(-2, 2, 41), [0.0, 0.0, 1e-13, 3e5]])
LIMITS = [-3.0, -1.0, 0.0, 0.5, 1.0, 1.5, 4e5]

ENTRIES: dict[str, Callable[[ModuleType, ModuleType], Any]] = {
    "a number": lambda torch, kind: kind.scalar("loss", 0.5),
    "a tensor": lambda torch, kind: kind.scalar("loss", torch.tensor([[2.5]])),
    "bfloat16": lambda torch, kind: kind.scalar("loss", torch.tensor(2.5, dtype=torch.bfloat16)),
    "new style": lambda torch, kind: kind.scalar("loss", 0.1, new_style=True),
    "new style, float64": lambda torch, kind: kind.scalar("loss", 0.1, new_style=True, double_precision=True),
    "bins by number": lambda torch, kind: kind.histogram("w", torch.tensor(VALUES), 10),
    "bins by name": lambda torch, kind: kind.histogram("w", VALUES, "auto"),
    "limits": lambda torch, kind: kind.histogram("w", VALUES, LIMITS),
    "fewer bins": lambda torch, kind: kind.histogram("w", VALUES[:41], 10, max_bins=4),
    "empty bins at the ends": lambda torch, kind: kind.histogram("w", np.array([0.2, 0.3]), LIMITS),
    "a picture": lambda torch, kind: kind.image("p", torch.tensor(PICTURE), dataformats="CHW"),
    "grey": lambda torch, kind: kind.image("p", PICTURE[0], dataformats="HW"),
    "one channel": lambda torch, kind: kind.image("p", PICTURE[:1], dataformats="CHW"),
    "bytes, scaled": lambda torch, kind: kind.image("p", (PICTURE.clip(0) * 200).astype(np.uint8), 2, "CHW"),
    "a grid": lambda torch, kind: kind.image("p", np.stack([PICTURE[:1] * i / 9 for i in range(10)])),
    "last dimensions first": lambda torch, kind: kind.image("p", PICTURE.T, dataformats="WHC"),
    "a text": lambda torch, kind: kind.text("note", "*begin* ü"),
    "charts": lambda torch, kind: kind.custom_scalars(
        {"loss": {"both": ["Multiline", ["train", "test"]], "band": ["Margin", ["mean", "low", "high"]]}}
    ),
    "hyperparameters": lambda torch, kind: kind.hparams(
        {"lr": 0.1, "depth": 3, "name": "a", "bias": True, "none": None, "scale": torch.tensor([2.0])},
        {"loss": 1.0},
        {"lr": [0.1, 0.2], "name": ["a", "b"]},
    ),
}
ERRORS: dict[str, Callable[[ModuleType, ModuleType], Any]] = {
    "two numbers": lambda torch, kind: kind.scalar("loss", torch.ones(2)),
    "no number": lambda torch, kind: kind.scalar("loss", None),
    "no values": lambda torch, kind: kind.histogram("w", torch.ones(0), 4),
    "a dimension twice": lambda torch, kind: kind.image("p", PICTURE, dataformats="CHH"),
    "another number of dimensions": lambda torch, kind: kind.image("p", PICTURE, dataformats="NCHW"),
    "two tags for a margin": lambda torch, kind: kind.custom_scalars({"a": {"b": ["Margin", ["x", "y"]]}}),
    "no dict": lambda torch, kind: kind.hparams([1], {}),
    "a domain of another type": lambda torch, kind: kind.hparams({"a": 1}, {}, {"a": ["x"]}),
    "a hyperparameter of another type": lambda torch, kind: kind.hparams({"a": [1]}, {}),
}


def written(entry: Any) -> list[str]:
    """The bytes of an entry. The hyperparameters are a map, which is written in another order in each process."""
    parts = entry if isinstance(entry, tuple) else (entry,)
    for data in (value.metadata.plugin_data for part in parts for value in part.value):
        if data.plugin_name == "hparams":
            data.content = HParamsPluginData.FromString(data.content).SerializeToString(deterministic=True)
    return [part.SerializeToString(deterministic=True).hex() for part in parts]


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_is_the_one_that_pytorch_writes(name: str, real_torch: ModuleType, noted: Any) -> None:
    theirs = importlib.import_module(f"{real_torch.__name__}.utils.tensorboard.summary")
    assert written(ENTRIES[name](torch, summary)) == noted(written(ENTRIES[name](real_torch, theirs)))


@pytest.mark.parametrize("name", ERRORS)
def test_what_cannot_be_logged_raises_pytorchs_error(name: str, real_torch: ModuleType, noted: Any) -> None:
    def kind_of_error(torch: ModuleType, kind: ModuleType) -> str:
        with pytest.raises(Exception) as caught:
            ERRORS[name](torch, kind)
        return caught.type.__name__

    theirs = importlib.import_module(f"{real_torch.__name__}.utils.tensorboard.summary")
    assert kind_of_error(torch, summary) == noted(kind_of_error(real_torch, theirs))


def test_values_without_a_number_are_refused() -> None:
    with pytest.raises(ValueError, match="are the values finite"):
        summary.histogram("w", np.array([9.0]), [0.0, 1.0])
    with pytest.raises(NotImplementedError, match="meta"):
        summary.scalar("loss", torch.ones(1, device="meta"))
    with pytest.raises(AssertionError, match="1 or 3 channels"):
        summary.image("p", np.ones((2, 2, 4, 4)))
    with pytest.raises(AssertionError, match="letters of NCHW"):
        summary.image("p", PICTURE, dataformats="ABC")


def events(folder: Path) -> list[Any]:
    files = sorted(folder.glob("events.out.tfevents.*"))
    return [event for file in files for event in EventFileLoader(str(file)).Load()]


def numbers(folder: Path) -> dict[tuple[str, int], float]:
    """The reader turns an old style scalar into a tensor."""
    return {
        (value.tag, event.step): value.tensor.float_val[0]
        for event in events(folder)
        for value in event.summary.value
        if value.tensor.float_val
    }


def test_a_training_is_read_by_tensorboard(tmp_path: Path) -> None:
    with SummaryWriter(tmp_path, flush_secs=1) as writer:
        assert writer.get_logdir() == tmp_path
        for step in range(3):
            writer.add_scalar("loss/train", torch.tensor(1.0 / (step + 1), requires_grad=True), np.int64(step), 7.0)
        writer.add_histogram("weights", torch.nn.Linear(2, 3).weight, 2)
        writer.add_image("one", PICTURE, 2)
        writer.add_images("many", np.stack([PICTURE, PICTURE]), 2)
        writer.add_text("note", "text", 2)
        writer.add_custom_scalars({"loss": {"both": ["Multiline", ["loss/train"]]}})
        writer.flush()
        tags = [value.tag for event in events(tmp_path) for value in event.summary.value]
    assert tags == [*["loss/train"] * 3, "weights", "one", "many", "note/text_summary", "custom_scalars__config__"]
    assert numbers(tmp_path) == {("loss/train", step): np.float32(1.0 / (step + 1)) for step in range(3)}
    assert [event.wall_time for event in events(tmp_path)][1:4] == [7.0] * 3
    writer.close()  # a second time


def test_numbers_of_one_chart_and_hyperparameters_have_folders_of_their_own(tmp_path: Path) -> None:
    with SummaryWriter(str(tmp_path)) as writer:
        for step in range(2):
            writer.add_scalars("error/all", {"train": step, "test": 2 * step}, step)
        writer.add_hparams({"lr": 0.1}, {"accuracy": 0.75}, run_name="first")
    assert numbers(tmp_path / "error_all_test") == {("error/all", 0): 0.0, ("error/all", 1): 2.0}
    assert numbers(tmp_path / "first") == {("accuracy", 0): 0.75}
    plugins = [value.metadata.plugin_data.plugin_name for e in events(tmp_path / "first") for value in e.summary.value]
    assert plugins[:3] == ["hparams"] * 3


def test_a_run_that_is_resumed_hides_what_came_later(tmp_path: Path) -> None:
    writer = SummaryWriter(tmp_path, purge_step=5)
    writer.close()
    writer.add_scalar("loss", 1.0, 5)  # opens a new file
    writer.close()
    starts = [event.step for event in events(tmp_path) if event.HasField("session_log")]
    assert starts == [5]
    assert numbers(tmp_path) == {("loss", 5): 1.0}


def test_the_end_of_a_files_name_is_the_callers(tmp_path: Path) -> None:
    writer = FileWriter(tmp_path / "new", filename_suffix=".mine")
    writer.add_summary(summary.scalar("loss", 1.0), 3)
    writer.close()
    assert numbers(Path(writer.get_logdir())) == {("loss", 3): 1.0}
    assert all(file.name.endswith(".mine") for file in (tmp_path / "new").iterdir())


def test_without_the_package_the_import_says_what_is_missing() -> None:
    program = "import sys; sys.modules['tensorboard'] = None\nfrom reftorch.utils.tensorboard import SummaryWriter"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert found.stderr.splitlines()[-1].startswith("ModuleNotFoundError: ")
    assert found.stderr.splitlines()[-1].endswith("python -m pip install tensorboard")
