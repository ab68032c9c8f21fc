"""CUDA devices, each test in a process that starts them: those of the simulator, or the GPU of a build for GPUs.

Mirrors: test/test_cuda.py
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import reftorch

ROOT = Path(__file__).resolve().parents[2]
HAS_SIMULATOR = getattr(reftorch._C, "_cuda_is_simulated", False)
HAS_GPU = not HAS_SIMULATOR and reftorch.cuda.is_available()
with_simulator = pytest.mark.skipif(not HAS_SIMULATOR, reason="this build has no simulator")
with_devices = pytest.mark.skipif(not HAS_SIMULATOR and not HAS_GPU, reason="neither a simulator nor a GPU")

BLOCKING = {"CUDA_LAUNCH_BLOCKING": "1"}
SHUFFLED = {"REFTORCH_CUDA_SIM_ORDER": "random", "REFTORCH_CUDA_SIM_LATENCY_US": "50"}
WAYS = {"blocking": BLOCKING, "asynchronous": {} if HAS_GPU else SHUFFLED}


def run(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("REFTORCH_CUDA_SIM", "CUDA_LAUNCH"))}
    environment |= {"REFTORCH_CUDA_SIM": "2", "PYTHONPATH": str(ROOT), **settings}
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, text=True, capture_output=True, timeout=1200
    )


FILES = ("device_cuda.py", "device_memory.py", "device_ops.py", "device_questions.py", "device_training.py")
# The op table runs in one way only, because each of its calls waits for its result: 2,800 tests take two minutes.
RUNS = [(file, way) for file in FILES for way in WAYS if (file, way) != ("device_ops.py", "blocking")]


@with_devices
@pytest.mark.parametrize(("file", "way"), RUNS)
def test_on_devices(file: str, way: str) -> None:
    done = run("-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", f"tests/cuda/{file}", **WAYS[way])
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]


# One stream makes x, another doubles it. `wait` is all that orders them. On a GPU, chance might order them, too.
TWO_STREAMS = """
import sys, reftorch as torch
maker, user = torch.cuda.Stream(), torch.cuda.Stream()
x = torch.zeros(1 << 16, device="cuda")
torch.cuda.synchronize()
with torch.cuda.stream(maker):
    for _ in range(20):
        x.add_(1)
if sys.argv[1] == "wait":
    user.wait_stream(maker)
with torch.cuda.stream(user):
    y = x * 2
user.synchronize()
print(y.cpu().eq(40).all().item())
"""


@with_simulator
@pytest.mark.parametrize(("wait", "right"), [("wait", "True"), ("no wait", "False")])
def test_a_missing_wait_shows(wait: str, right: str) -> None:
    done = run("-c", TWO_STREAMS, wait, REFTORCH_CUDA_SIM_LATENCY_US="2000")
    assert done.stdout.split() == [right], done.stderr


ASLEEP = """
import threading, reftorch as torch
assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
torch.manual_seed(0)
assert threading.active_count() == 1
assert "200000000000-" not in open("/proc/self/maps").read()
try:
    torch.ones(1).cuda()
except AssertionError as error:
    print(error)
"""


@with_simulator
def test_asleep() -> None:
    done = run("-c", ASLEEP, REFTORCH_CUDA_SIM="0")
    assert done.stdout.startswith("Torch not compiled with CUDA enabled"), done.stderr
    assert "REFTORCH_CUDA_SIM=2" in done.stdout
