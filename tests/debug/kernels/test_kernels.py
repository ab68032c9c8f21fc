"""The watcher of kernels, in one process with simulated devices.

Mirrors: nothing in PyTorch, whose users run NVIDIA's compute-sanitizer
"""

from __future__ import annotations

import pytest

import reftorch
from reftorch.debug import watch_kernels
from tests.cuda.test_devices import run, with_simulator

pytestmark = with_simulator


FILES = (
    "tests/debug/kernels/device_faults.py", "tests/debug/kernels/device_watch.py", "tests/cuda/device_sanitizer.py",
)  # fmt: skip


def test_on_devices() -> None:
    pytest_ = ("-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider")
    done = run(*pytest_, *FILES, REFTORCH_CUDA_SIM_ORDER="forward")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]


def test_without_a_device() -> None:
    assert not reftorch.cuda.is_available()
    with pytest.raises(RuntimeError, match="REFTORCH_CUDA_SIM=1 before Python starts"), watch_kernels():
        pass


def test_a_build_for_gpus_names_the_tool_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reftorch._C, "_cuda_is_simulated", False)
    with pytest.raises(RuntimeError, match="on a GPU, run the program under NVIDIA's compute-san"), watch_kernels():
        pass
