"""gdb inside a CUDA kernel of the library, on the simulator: at a chosen thread, with its stack and those that wait.

Mirrors: nothing in PyTorch: cuda-gdb shows these of a GPU.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import reftorch
from reftorch.debug.core.find_gdb import gdb_environment
from tests.debug.dap import Dap
from tests.debug.launch import configuration, drives
from tests.debug.test_printers import GDBS, Gdb

pytestmark = pytest.mark.skipif(
    not getattr(reftorch._C, "_cuda_is_simulated", False), reason="this build has no simulator"
)

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "cpp" / "ATen" / "native" / "cuda" / "Loops.cuh"
LINE = 1 + next(i for i, text in enumerate(SOURCE.read_text().splitlines()) if "apply_at<scalar_t>(operands" in text)
PROGRAM = """
import reftorch as torch
x = torch.arange(512.0, device="cuda")
y = x + x
z = torch.arange(2000.0, device="cuda").sum()
torch.cuda.synchronize()
"""
SUM = "reftorch::at::native::CombineWith<reftorch::at::native::SumOps<float, float> >"
COMMANDS = [
    "set breakpoint pending on", "set environment REFTORCH_CUDA_SIM 2", "set environment CUDA_LAUNCH_BLOCKING 1",
    f"break Loops.cuh:{LINE} if threadIdx.x == 3 && blockIdx.x == 1", "run", "print threadIdx.x",
    "print i", "backtrace 20", "cuda threads", "cuda bt 0", "delete",
    f"break reftorch::at::native::group_reduce<float, {SUM} > if threadIdx.x == 5", "continue", "next", "next", "next",
    "print threadIdx.x ", "cuda threads ", "cuda bt 2",
]  # fmt: skip


@pytest.fixture(scope="module", params=GDBS[:1])
def stopped(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Gdb:
    """In the addition of element 131, which is thread 3 of block 1."""
    return Gdb(request.param, tmp_path_factory.mktemp("gdb"), PROGRAM, COMMANDS)


def test_a_chosen_thread_of_the_add_kernel(stopped: Gdb) -> None:
    assert "CUDA thread (1,0,0)/(3,0,0)" in stopped["run"], stopped.all
    assert stopped["print threadIdx.x"].endswith("= 3")
    assert stopped["print i"].endswith("= 131")
    assert "elementwise_kernel<float, reftorch::at::native::AddFunctor<float>, 3>" in stopped["run"]


def test_the_stack_goes_from_the_kernel_to_its_launch(stopped: Gdb) -> None:
    stack = stopped["backtrace 20"]
    assert re.search(r"elementwise_kernel<.*launch<<<\(4,1,1\), \(128,1,1\)>>>.*gpu_kernel<", stack, re.S), stack
    assert "block (1,0,0), thread (3,0,0)" in stack
    assert "cudasim::" not in stack.partition("gpu_kernel<")[0].rpartition("launch<<<")[2]


def test_the_other_threads(stopped: Gdb) -> None:
    assert stopped["cuda threads"].splitlines() == [
        "threads 0-2: left the kernel", "threads 3-3: running", "threads 4-127: not started",
    ]  # fmt: skip
    assert "does not wait" in stopped["cuda bt 0"]


def test_threads_that_wait_at_a_barrier(stopped: Gdb) -> None:
    assert "threads 0-4: at __syncthreads" in stopped["cuda threads "], stopped.all
    assert re.search(r"reduce_kernel<|group_reduce<", stopped["cuda bt 2"]), stopped["cuda bt 2"]


ADD = """
__global__ void add(const float* a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + 1;
}
"""
COMPILED_LATER = """
import reftorch as torch
add = torch.cuda._compile_kernel('#line 1 "{file}"' + open("{file}").read(), "add")
x = torch.arange(128.0, device="cuda")
add(grid=4, block=32, args=[x, x, 128])
print("the sum is", x.sum().item())
"""


@drives("C++ only: this file")
def test_an_editor_stops_in_a_chosen_thread_of_a_kernel_that_is_compiled_later(tmp_path: Path) -> None:
    file, program = tmp_path / "add.cu", tmp_path / "program.py"
    file.write_text(ADD)
    program.write_text(COMPILED_LATER.format(file=file))
    own = configuration("C++ only: this file", file=str(program))
    own["env"] = dict(os.environ) | own["env"] | {"REFTORCH_CUDA_SIM": "1", "CUDA_LAUNCH_BLOCKING": "1"}
    gdb = Dap([own["gdb"], *own["gdbArgs"]], env=gdb_environment())
    try:
        started = {key: own[key] for key in ("program", "args", "cwd", "env")}
        gdb.begin("launch", started, {str(file): [4]}, condition="threadIdx.x == 3 && blockIdx.x == 1")
        thread = gdb.event("stopped")["threadId"]
        inner, launch, *_ = gdb.frames(thread)
        assert (inner["name"], inner["source"]["path"], inner["line"]) == ("add", str(file), 4)
        assert launch["name"] == "launch<<<(4,1,1), (32,1,1)>>>" and "source" not in launch
        values = [gdb.evaluate(text, inner["id"]) for text in ("threadIdx.x", "blockIdx.x", "i")]
        assert values == ["3", "1", "35"]
        gdb.ask("continue", threadId=thread)
        assert gdb.event("exited")["exitCode"] == 0  # no other thread stops
        assert "the sum is 8256.0" in gdb.printed()
    finally:
        gdb.close()
