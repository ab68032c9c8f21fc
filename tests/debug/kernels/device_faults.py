"""Kernels as a learner writes them wrong: each is told why, and neither ends the process nor spoils the next cell.

Run by test_kernels.py in a process with a device.

Mirrors: nothing in PyTorch: its users watch kernels with NVIDIA's tools
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pytest

import reftorch as torch
from reftorch.cuda import _kernel_compiler
from reftorch.cuda._kernels import _CudaKernel
from reftorch.debug import watch_kernels
from reftorch.debug.notebook.cuda_cell import reset_failed_devices


class Fault(NamedTuple):
    """A kernel with the parameters ``float* x, int n, long long address``; ``// fault`` is at the end of the line.

    `told` is what a launch prints, and `found` what the watcher reports; they are regular expressions.
    """

    body: str
    told: str
    found: str
    n: int = 0
    block: int = 1
    where: str = ""
    thread: str = "(0,0,0)"


FULL = "the thread's stack is full: a recursion without end, or an array that is too large"
ZERO = "an integer is divided by zero, or the smallest one by -1"
NOTHING = "illegal memory access: address 0x.* is no memory of this device"

FAULTS: dict[str, Fault] = {
    "local_array": Fault("float mine[4]; mine[n] = 1; // fault", *["index 4 is outside of an array of type"] * 2, n=4),
    "negative_index": Fault("float mine[4]; mine[n] = 1; // fault", *["index -1 is outside of an array"] * 2, n=-1),
    "shared_array": Fault(
        "__shared__ float s[32]; s[threadIdx.x] = 1; // fault",
        *["index 32 is outside of an array of type 'float .32.'"] * 2, block=64, thread="(32,0,0)",
    ),
    "shared_by_pointer": Fault(
        "__shared__ float s[32]; float* all = s; all[32 + n] = 1; // fault", "", "^out of bounds",
        where="after the end of the block's __shared__ variables",
    ),
    "dynamic_array": Fault(
        "extern __shared__ float s[]; s[threadIdx.x] = 1; // fault",
        "byte 0 of the block's dynamic shared memory, which has 0 bytes: the launch must give their number",
        "^out of bounds", where="which has 0 bytes: the launch must give",
    ),
    "division": Fault("x[0] = 7 / n; // fault", ZERO, ZERO),
    "remainder": Fault("x[0] = threadIdx.x % n; // fault", ZERO, ZERO),
    "quotient_too_large": Fault("int least = 1 << 31; x[0] = least / n; // fault", ZERO, ZERO, n=-1),
    "misaligned": Fault(
        "x[0] = reinterpret_cast<float4*>(x + 1)->y; // fault",
        *["misaligned address: 0x.* is 4 bytes behind a multiple of 16, as 'struct float4' needs"] * 2,
    ),
    "null_pointer": Fault("float* p = nullptr; p[0] = 1; // fault", *["a null pointer to 'float' is used"] * 2),
    "almost_null": Fault(
        "float* p = nullptr; p += 5; p[0] = 1; // fault", "0x14, which is a null pointer",
        "a kernel uses a null pointer", where="address 0x14",
    ),
    "far_outside": Fault("x[1ll << 40] = 1; // fault", NOTHING, "^out of bounds", where="where no memory is"),
    "other_device": Fault(
        "((float*)address)[0] = 1; // fault", "is memory of device 1, and the kernel runs on device 0",
        "a kernel uses memory of another device", where="on device 1; the kernel runs on device 0",
    ),
    "recursion": Fault("x[0] = deeper(n); // in a function", FULL, FULL),
    "large_array": Fault(
        "volatile int a[100000]; a[threadIdx.x] = n; __syncthreads(); x[0] = a[0]; // fault", FULL, FULL, block=2,
        thread="(1,0,0)",
    ),
    "exception": Fault("throw n; // fault", *["the kernel was aborted: by abort\\(\\), by an exception"] * 2),
    "aborts": Fault("std::abort(); // fault", *["the kernel was aborted"] * 2),
    "wrong_free": Fault("std::free(x + 2); // fault", *["the kernel was aborted: .*, by free\\(\\)"] * 2),
    "overwritten_stack": Fault(
        "float mine[4]; float* p = mine; for (int i = 0; i < n; i++) p[4 + i] = 1; // fault",
        *["the kernel was aborted: .* outside of an array on its stack"] * 2, n=4,
    ),
    "exits": Fault("exit(1); // fault", *["exit\\(\\) would end the process; .* ends by `return`"] * 2),
    "trap": Fault("__trap(); // fault", *["__trap\\(\\) was called"] * 2),
    "assertion": Fault("assert(n == 3); // fault", *["Assertion `n == 3` failed."] * 2),
}  # fmt: skip
TEXT = (
    "#include <cstdlib>\n__device__ int deeper(int n) { return n < 0 ? 0 : deeper(n + 1) + 1; } // fault\n"
    + "\n".join(
        f"__global__ void {name}(float* x, int n, long long address) {{ {fault.body}\n}}"
        for name, fault in FAULTS.items()
    )
)
# These are noticed where the compiler has put a check, which knows the line without a watcher.
CHECKED = ("index", "misaligned", "a null pointer to", "exit", "__trap", "Assertion")


@pytest.fixture(scope="module")
def compiled() -> _kernel_compiler.CompiledKernels:
    return _kernel_compiler.CompiledKernels(TEXT, list(FAULTS), "wrong.cu")


def launch(compiled: Any, name: str) -> None:
    far = torch.zeros(1, device="cuda:1" if torch.cuda.device_count() > 1 else "cuda")
    x = torch.zeros(64, device="cuda")
    torch.cuda.synchronize(far.device)
    fault = FAULTS[name]
    _CudaKernel(name, compiled)(block=fault.block, args=[x, fault.n, far.data_ptr()])


def the_device_works() -> bool:
    return torch.arange(5, device="cuda").sum().item() == 10


def line_of(name: str) -> str:
    lines = TEXT.splitlines()
    marked = [i for i, line in enumerate(lines, 1) if f" {name}(" in line and line.endswith("// fault")]
    return f"wrong.cu:{marked[0] if marked else 2}"


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.told])
def test_a_wrong_kernel_fails_with_the_reason_and_the_thread(name: str, compiled: Any, capfd: Any) -> None:
    if name == "other_device" and torch.cuda.device_count() < 2:
        pytest.skip("needs two devices")
    launch(compiled, name)
    with pytest.raises(RuntimeError, match="CUDA error: "):
        torch.cuda.synchronize()
    printed = capfd.readouterr().err
    fault = FAULTS[name]
    assert re.search(fault.told, printed), printed
    assert f"  in kernel {name}(float*, int, long long), block (0,0,0), thread {fault.thread}" in printed
    has_line = fault.told.startswith(CHECKED) or name in ("division", "remainder")
    assert (f"cudasim: {line_of(name)}: " in printed) == has_line
    assert ("%%cuda --watch name the line" in printed) != has_line
    with pytest.raises(RuntimeError, match="CUDA error: "):
        the_device_works()
    assert reset_failed_devices() and the_device_works()


@pytest.mark.parametrize("name", FAULTS)
def test_the_watcher_names_line_and_thread_and_the_device_goes_on(name: str, compiled: Any) -> None:
    if name == "other_device" and torch.cuda.device_count() < 2:
        pytest.skip("needs two devices")
    fault = FAULTS[name]
    with watch_kernels(library=False) as seen:
        launch(compiled, name)
    problem = seen.problems[-1]
    assert re.search(fault.found, problem.what) and fault.where in problem.place, str(seen)
    assert (problem.kernel, problem.line.short) == (name, line_of(name)), str(seen)
    assert problem.thread == f"thread {fault.thread} of block (0,0,0)"
    assert the_device_works()


MEETINGS = """
__global__ void some_leave(float* x) {
  if (threadIdx.x < 40) __syncthreads();
}
__global__ void two_places(float* x) {
  if (threadIdx.x < 40) __syncthreads();
  else __syncthreads();
}
__global__ void barrier_and_shuffle(float* x) {
  if (threadIdx.x < 40) __syncthreads();
  else x[threadIdx.x] = __shfl_sync(~0u, 1.0f, 0);
}
"""


NOTES = {
    "some_leave": "thread (0,0,0) waits here, and 24 of the 64 threads had left the kernel before, the first is thread "
    "(40,0,0)",
    "two_places": "thread (0,0,0) waits at the first line, thread (40,0,0) at the second",
    "barrier_and_shuffle": "40 threads wait at a barrier, the first is thread (0,0,0); 24 in an operation of their "
    "warp, the first is thread (40,0,0); 0 have left the kernel",
}


@pytest.mark.parametrize("name", NOTES)
def test_threads_that_do_not_meet_are_named(name: str) -> None:
    kernels = _kernel_compiler.CompiledKernels(MEETINGS, list(NOTES), "meet.cu")
    with watch_kernels(library=False) as seen:
        _CudaKernel(name, kernels)(block=64, args=[torch.zeros(64, device="cuda")])
    assert [problem.note for problem in seen.problems] == [NOTES[name]]


def test_an_address_between_two_arrays_is_described_by_the_one_that_the_kernel_got() -> None:
    source = "__global__ void before(float* x, int n) { x[-n] = 1; }"
    before, between = torch.zeros(32, device="cuda"), torch.zeros(32, device="cuda")
    assert between.data_ptr() == before.data_ptr() + 512
    with watch_kernels(library=False) as seen:
        torch.cuda._compile_kernel(source, "before")(args=[between, 96])
    assert [problem.place for problem in seen.problems] == ["384 bytes before x, which has 128 bytes"]


def test_a_local_array_may_be_large() -> None:
    source = "__global__ void large(float* x) { float a[100000]; for (float& e : a) e = 1; x[threadIdx.x] = a[9]; }"
    x = torch.zeros(2, device="cuda")
    with watch_kernels(library=False) as seen:
        torch.cuda._compile_kernel(source, "large")(block=2, args=[x])
    assert seen.problems == [] and x.tolist() == [1, 1]


def test_a_kernel_may_use_pinned_memory_of_the_host() -> None:
    source = "__global__ void copy(const float* a, float* out) { out[threadIdx.x] = a[threadIdx.x]; }"
    early, out = torch.ones(8).pin_memory(), torch.zeros(8, device="cuda")
    with watch_kernels(library=False) as seen:
        late = torch.ones(8).pin_memory()
        for a in (early, late):
            torch.cuda._compile_kernel(source, "copy")(block=8, args=[a, out])
    assert seen.problems == [] and out.sum().item() == 8


def test_an_interrupted_block_ends_and_another_may_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    from reftorch.debug.kernels import watch

    def interrupted() -> None:
        raise KeyboardInterrupt

    seen = watch_kernels(library=False)
    with pytest.raises(KeyboardInterrupt), seen:
        monkeypatch.setattr(watch, "synchronize", interrupted)
    monkeypatch.undo()
    with watch_kernels(library=False) as seen:
        pass
    assert seen.findings == "no kernel was watched"
