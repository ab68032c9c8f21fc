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
    settings_of_devices = ("REFTORCH_CUDA_SIM", "CUDA_LAUNCH", "CUDA_VISIBLE")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(settings_of_devices)}
    environment |= {"REFTORCH_CUDA_SIM": "2", "PYTHONPATH": str(ROOT), **settings}
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, text=True, capture_output=True, timeout=1200
    )


FILES = ("device_cuda.py", "device_graphs.py", "device_memory.py", "device_questions.py", "device_training.py")
# The op table runs in one way only, because each of its calls waits for its result: 2,800 tests take two minutes. What
# is compiled runs in one way, because compilers take the most time.
RUNS = [(file, way) for file in FILES for way in WAYS]
# Only the simulator records what its devices do.
RUNS += [("device_profiler.py", way) for way in WAYS if HAS_SIMULATOR]
RUNS += [("device_ops.py", "asynchronous"), ("device_kernels.py", "asynchronous"), ("device_extension.py", "blocking"),
         ("device_api.py device_ipc.py", "asynchronous")]  # fmt: skip


@with_devices
@pytest.mark.parametrize(("file", "way"), RUNS)
def test_on_devices(file: str, way: str) -> None:
    files = [f"tests/cuda/{name}" for name in file.split()]
    done = run("-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *files, **WAYS[way])
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


# Three endless kernels in turn. `dance` is mostly in the simulator's own code, and prints, so it holds locks.
ENDLESS = """
import os, signal, threading, reftorch as torch
from reftorch.cuda._kernel_compiler import CompiledKernels
from reftorch.cuda._kernels import _CudaKernel
source = '''
__global__ void forever(volatile int* x) { while (x[0] == 0) {} }
__global__ void dance(volatile int* x) {
  for (int i = 0; x[0] == 0; i++) {
    __syncthreads();
    if (i % 1000 == 0) printf(" ");
    __syncwarp();
  }
}
'''
names = ["forever", "dance"]
compiled = CompiledKernels(source, names, "endless.cu")
forever, dance = (_CudaKernel(name, compiled) for name in names)
x = torch.zeros(1, dtype=torch.int32, device="cuda")
for kernel in (forever, dance):
    kernel(grid=2, block=64, args=[x])
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        torch.cuda.synchronize()
        print("not interrupted")
    except KeyboardInterrupt:
        print("interrupted", (x + 1).item())
forever(args=[x])
try:
    torch.cuda.synchronize()
except RuntimeError as error:
    print(str(error).splitlines()[0])
with torch.cuda.device(1):
    forever(args=[torch.zeros(1, dtype=torch.int32, device="cuda")])
"""


@with_simulator
def test_endless_kernels_end() -> None:
    """By Ctrl-C, at the limit, and at the end of the process."""
    done = run("-c", ENDLESS, REFTORCH_CUDA_SIM_TIMEOUT_S="1")
    said = ["interrupted 1", "interrupted 1", "CUDA error: the launch timed out and was terminated"]
    assert ([line.strip() for line in done.stdout.splitlines()], done.returncode) == (said, 0), done.stderr
    assert (
        "the kernel was interrupted (a GPU would run it to its end)\n  in kernel forever(int volatile*)" in done.stderr
    )
    assert "in kernel dance(int volatile*), block (0,0,0), thread (" in done.stderr
    assert "the kernel did not end in the time that REFTORCH_CUDA_SIM_TIMEOUT_S allows" in done.stderr


ASSERTION = """
import reftorch as torch
check = torch.cuda._compile_kernel('''
#include <cassert>
__global__ void check(const float* x) {
  assert(x[threadIdx.x] < 3);
}
''', "check")
check(block=8, args=[torch.arange(8.0, device="cuda")])
try:
    torch.cuda.synchronize()
except RuntimeError as error:
    print(str(error).splitlines()[0])
"""


@with_simulator
def test_an_assertion_names_line_and_thread() -> None:
    done = run("-c", ASSERTION)
    assert done.stdout == "CUDA error: device-side assert triggered\n", done.stderr
    assert "check.cu:4: Assertion `x[threadIdx.x] < 3` failed." in done.stderr
    assert "in kernel check(float const*), block (0,0,0), thread (3,0,0)" in done.stderr
