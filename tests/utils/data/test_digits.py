"""Real data through workers: number for number as in one process, also after Ctrl-C, and by two processes at once.

Mirrors: nothing in PyTorch: its examples train on data that is downloaded.
"""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import reftorch as torch
import reftorch.multiprocessing as mp
from reftorch import nn
from reftorch.utils.data import DataLoader
from tests.utils.data.digits import EPOCHS, SAMPLES, Digits, make_model, train

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def data() -> Digits:
    return Digits()


@pytest.fixture(scope="module")
def curve(data: Digits) -> list[float]:
    """The losses of one process that is not interrupted."""
    return train(0, data=data)


def test_workers_give_the_numbers_of_one_process(data: Digits, curve: list[float]) -> None:
    assert len(curve) == EPOCHS * SAMPLES // 32 and sum(curve[-5:]) < sum(curve[:5]) / 1.5
    assert train(2, data=data) == curve


def test_an_interrupted_training_continues_as_if_it_had_not_been(tmp_path: Path, curve: list[float]) -> None:
    path = tmp_path / "checkpoint.pt"
    command = [sys.executable, "-m", "tests.utils.data.digits", str(path), "2"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": ROOT}
    # A background shell starts us with the signal ignored, and our children would inherit this.
    default: Any = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    with subprocess.Popen(command, **pipes, start_new_session=True, preexec_fn=default) as process:
        assert process.stdout is not None
        while (line := process.stdout.readline()) and line != "step 1 4\n":
            pass
        assert line
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate()
    assert out.endswith("interrupted\n") and errors == "" and process.returncode == 0
    epoch = torch.load(path)["epoch"]  # on a busy machine, the signal may come an epoch later
    assert 1 <= epoch < EPOCHS
    done = subprocess.run(command, **pipes, check=True)
    assert f"step {epoch - 1} " not in done.stdout and f"step {epoch} 0\n" in done.stdout
    assert json.loads(done.stdout.splitlines()[-1]) == curve


def hogwild(rank: int, model: Any, data: Digits) -> None:
    torch.manual_seed(rank)
    torch.set_num_threads(1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    for _ in range(2):
        for x, y in DataLoader(data, batch_size=32, shuffle=True):
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def accuracy(model: Any, data: Digits) -> float:
    x, y = next(iter(DataLoader(data, batch_size=len(data))))
    return (model(x).argmax(1) == y).float().mean().item()


def test_hogwild(data: Digits) -> None:
    """Two processes write into one model without a lock."""
    model = make_model().share_memory()
    before = accuracy(model, data)
    mp.start_processes(hogwild, (model, data), nprocs=2, start_method="fork")
    assert before < 0.3 and accuracy(model, data) > 0.7
