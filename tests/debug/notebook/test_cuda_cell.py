"""``%%cuda`` in a real notebook kernel with simulated devices: kernels, messages, stops, and kernels that go wrong.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import reftorch
from tests.debug.kernel import Notebook

pytestmark = pytest.mark.skipif(
    not getattr(reftorch._C, "_cuda_is_simulated", False), reason="this build has no simulator"
)

KERNELS = """
__global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
__global__ void forever(volatile float* x) { while (x[0] == x[0]) {} }
__global__ void check(const float* x) { assert(x[threadIdx.x] < 3); }
__global__ void hello() { printf("hello from thread %d\\n", threadIdx.x); }
"""
WATCHED = """
__global__ void turn(float* x) {
  __shared__ float s[64];
  s[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void twice(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
"""
LINE = 2 + KERNELS.split("\n").index("  if (i < n) out[i] = a[i] + b[i];")  # %%cuda is line 1
NAMES = [
    "<CUDA kernel add(a, b, out, n)>", "<CUDA kernel forever(x)>", "<CUDA kernel check(x)>", "<CUDA kernel hello()>",
]  # fmt: skip


@pytest.fixture(scope="module")
def kernel() -> Iterator[Notebook]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTEST_CURRENT_TEST", raising=False)  # with it, ipykernel leaves out what C++ prints
        notebook = Notebook(Path(__file__).resolve().parents[1], {"REFTORCH_CUDA_SIM": "2"})
    try:
        assert not notebook.run("import reftorch as torch\n%load_ext reftorch.debug\n%xmode Minimal").error
        cell = notebook.run(f"%%cuda\n{KERNELS}")
        assert (cell.error, cell.stdout.splitlines()) == ("", NAMES)
        notebook.run(
            "a, b = torch.arange(64.0, device='cuda'), torch.ones(64, device='cuda')\nout = torch.empty_like(a)"
        )
        yield notebook
    finally:
        notebook.close()


def test_kernels_are_functions(notebook: Notebook) -> None:
    assert notebook.run("add(grid=2, block=32, args=[a, b, out, 64])\ntorch.equal(out, a + b)").text == "True"
    assert "add takes 4 arguments (a, b, out, n), got 3" in notebook.run("add(args=[a, b, out])").error


def test_what_a_kernel_prints_is_an_output(notebook: Notebook) -> None:
    cell = notebook.run("import time\nhello(block=2)\ntorch.cuda.synchronize()\ntime.sleep(1)")
    assert cell.stdout == "hello from thread 0\nhello from thread 1\n"


def test_mistakes(notebook: Notebook) -> None:
    wrong = notebook.run("%%cuda\n__global__ void k(float* x) {\n  x[0] = undeclared;\n}")
    assert "Kernel compilation failed:\ncell.cu:3:10: error: 'undeclared' was not declared" in wrong.error
    assert "x[0] = undeclared;" in wrong.error and "Traceback" not in wrong.error
    assert "The cell has no kernel" in notebook.run("%%cuda\nint f() { return 1; }").error
    assert "k is a template." in notebook.run("%%cuda\ntemplate <typename T> __global__ void k(T* x) {}").error
    assert "unrecognized arguments: --no" in notebook.run("%%cuda --no\n__global__ void k() {}").stdout


def test_a_stop_in_a_chosen_thread(notebook: Notebook) -> None:
    place = f"cell.cu:{LINE} if threadIdx.x == 3 && blockIdx.x == 1"
    cell = notebook.run(f"%%cuda --gdb '{place}' -c 'print threadIdx.x; print i'\n{KERNELS}")
    assert f"<CUDA kernel add(a, b, out, n)>, stops at {place}" in cell.stdout
    cell = notebook.run("out.zero_()\nadd(grid=2, block=32, args=[a, b, out, 64])")
    assert not cell.error
    assert cell.text.startswith(f"stop 1  cell.cu:{LINE}  add\n") and "stop 2" not in cell.text
    assert f" ->  {LINE} |   if (i < n) out[i] = a[i] + b[i];" in cell.text
    assert "(gdb) print threadIdx.x\n$1 = 3\n(gdb) print i\n$2 = 35" in cell.text
    again = notebook.run("add(grid=2, block=32, args=[a, b, out, 64])\ntorch.equal(out, a + b)")
    assert again.text == "True"


def test_each_launch_of_a_watched_cell_shows_what_was_found(notebook: Notebook) -> None:
    cell = notebook.run(f"%%cuda --watch\n{WATCHED}")
    assert (cell.error, cell.stdout) == ("", "<CUDA kernel turn(x)>, watched\n<CUDA kernel twice(x, n)>, watched\n")
    found = notebook.run("x = torch.ones(64, device='cuda')\nturn(block=64, args=[x])").stdout
    assert found.startswith("turn, watched: a race: a write and a read, 32 times in turn\n")
    assert "of __shared__ s, which has 256 bytes, thread (32,0,0) of block (0,0,0) after thread (31,0,0)" in found
    assert "  here   cell.cu:6  x[threadIdx.x] = s[63 - threadIdx.x];\n" in found
    assert "  before cell.cu:5  s[threadIdx.x] = x[threadIdx.x];\n" in found
    cell = notebook.run("twice(block=32, args=[x, 8])\nx.tolist()[:9], twice.seen.sites[0].kernel")
    assert cell.stdout.startswith("twice, watched: nothing found: no race, nothing outside of an array, no read of")
    assert cell.text.endswith(", 'twice')")
    found = notebook.run("twice(block=32, args=[torch.ones(20, device='cuda'), 21])").stdout
    assert "out of bounds" in found and "right after the end of x, which has 80 bytes" in found
    inside = "with torch.debug.watch_kernels(library=False) as seen:\n    twice(block=32, args=[x, 8])\nseen.launches"
    assert (cell := notebook.run(inside)).stdout == "" and "'kernel': 'twice'" in cell.text
    assert "exclude each other" in notebook.run("%%cuda --watch --gdb cell.cu:3\n__global__ void k() {}").stdout


def test_a_cell_is_watched_on_simulated_devices_only(notebook: Notebook) -> None:
    patch = "from unittest import mock\npatch = mock.patch.object(torch._C, '_cuda_is_simulated', False)\npatch.start()"
    notebook.run(patch)
    cell = notebook.run("%%cuda --watch\n__global__ void k() {}")
    notebook.run("patch.stop()")
    assert cell.error.startswith("%%cuda --watch: needs the simulated device")
    assert "on a GPU, run the program under NVIDIA's compute-sanitizer" in cell.error and "Traceback" not in cell.error


def kernel_time(pid: int) -> int:
    """The processor time of the threads that run kernels of the simulator, in ticks of the system's clock."""
    ticks = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that has just ended
            name, _, fields = (task / "stat").read_text().partition("(")[2].rpartition(")")
            ticks += int(fields.split()[11]) if name.startswith("cuda:") else 0
    return ticks


def test_interrupt_ends_a_kernel(notebook: Notebook) -> None:
    """As a user presses *Stop* when the kernel has run for a while: a press before that would end the cell alone."""
    begin = kernel_time(notebook.pid)
    request = notebook.send("forever(args=[a])\ntorch.cuda.synchronize()")
    ended = threading.Event()

    def press_stop() -> None:
        while not ended.wait(0.5):
            if kernel_time(notebook.pid) - begin > os.sysconf("SC_CLK_TCK") // 2:
                os.kill(notebook.pid, signal.SIGINT)

    presses = threading.Thread(target=press_stop)
    presses.start()
    try:
        cell = notebook.result(request)
    finally:
        ended.set()
        presses.join()
    assert "KeyboardInterrupt" in cell.error and "the kernel was interrupted" in cell.stdout
    assert notebook.run("(a + 1)[0].item()").text == "1.0"


def test_the_next_cell_resets_a_failed_device(notebook: Notebook) -> None:
    assert "device-side assert triggered" in notebook.run("check(block=8, args=[a])\ntorch.cuda.synchronize()").error
    assert "device-side assert triggered" in notebook.run("(a + 1)[0].item()").error
    cell = notebook.run(f"%%cuda\n{KERNELS}")
    assert "The simulator has reset it; a GPU would need a new process." in cell.stdout
    assert notebook.run("(a + 1)[0].item()").text == "1.0"
