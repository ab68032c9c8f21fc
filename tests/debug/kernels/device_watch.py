"""The watcher of kernels on the simulated device: each fault of the zoo is found, and costs are those of GPUs.

Run by test_kernels.py in a process with a device.

Mirrors: nothing in PyTorch: its users watch kernels with NVIDIA's tools
"""

from __future__ import annotations

import ctypes
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import reftorch as torch
from reftorch import _C
from reftorch.debug import watch_kernels
from reftorch.debug.kernels import instrument_flags
from reftorch.debug.kernels.report import Problem, Site
from reftorch.utils import cpp_extension

ZOO = Path(__file__).with_name("zoo.cu")
LINES = ZOO.read_text().splitlines()
UNWRITTEN = "a read of memory that nobody has written"
READ_WRITE, WRITE_READ = "a race: a read and a write", "a race: a write and a read"


Launch = Callable[..., None]


@pytest.fixture(scope="module")
def launch(tmp_path_factory: pytest.TempPathFactory) -> Launch:
    """Launch a kernel of the zoo: ``launch(name, grid, block, x, y, n, shared=0, stream=None)``."""
    library = tmp_path_factory.mktemp("zoo") / "zoo.so"
    cpp = cpp_extension.ROOT / "cpp"
    includes = [f"-I{cpp}", f"-I{cpp_extension.GENERATED}", "-isystem", str(cpp / "c10" / "cuda" / "sim")]
    compiled = ["c++", "-x", "c++", "-std=c++17", "-fPIC", "-w", *instrument_flags(), *includes, "-c", str(ZOO), "-o"]
    subprocess.run([*compiled, f"{library}.o"], check=True)
    subprocess.run(["c++", "-shared", f"{library}.o", str(_C.__file__), "-o", str(library)], check=True)
    function = ctypes.CDLL(str(library)).launch_kernel
    pointer = ctypes.c_void_p
    function.argtypes = [ctypes.c_char_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_size_t, *[pointer] * 3, ctypes.c_int]

    def call(name: str, grid: int, block: int, x: Any, y: Any, n: int, shared: int = 0, stream: Any = None) -> None:
        address = x if isinstance(x, int) else x.data_ptr()
        handle = (stream or torch.cuda.current_stream()).cuda_stream
        assert function(name.encode(), grid, block, shared, handle, address, y.data_ptr(), n) == 0

    return call


def marked(kernel: str, mark: str) -> list[str]:
    """Return the lines of a kernel of the zoo that have the mark, as a report names them."""
    start = next(i for i, line in enumerate(LINES) if f" {kernel}(" in line and line.endswith("{"))
    end = next(i for i, line in enumerate(LINES) if i > start and line == "}")
    return [f"zoo.cu:{i + 1}" for i in range(start, end) if mark in LINES[i]]


def ones(n: int) -> torch.Tensor:
    return torch.ones(n).cuda()


# What a kernel is launched with: blocks, threads, n, shared bytes; then the fault, or none.
FAULTS: dict[str, tuple[int, int, int, int, str]] = {
    "sum_right": (4, 256, 1024, 0, ""),
    "sum_without_barriers": (1, 256, 256, 0, WRITE_READ),
    "sum_without_the_first_barrier": (1, 256, 256, 0, WRITE_READ),
    "sum_of_a_warp": (1, 32, 32, 0, ""),
    "sum_of_a_warp_in_step": (1, 32, 32, 0, WRITE_READ),
    "sum_by_shuffles": (1, 32, 32, 0, ""),
    "total_by_plain_adds": (2, 32, 64, 0, "a race: a read and a write by two blocks"),
    "total_by_atomic_adds": (2, 32, 64, 0, ""),
    "total_by_compare_and_swap": (2, 32, 64, 0, ""),
    "volatile_instead_of_a_barrier": (1, 32, 32, 0, WRITE_READ),
    "no_guard": (2, 64, 100, 0, "out of bounds"),
    "element_before_the_first": (2, 64, 100, 0, "out of bounds"),
    "missing_halo": (1, 64, 64, 0, UNWRITTEN),
    "doubled": (2, 64, 100, 0, ""),
    "dynamic_memory_too_small": (1, 32, 32, 64, "out of bounds"),
    "barrier_of_some": (1, 32, 32, 0, "a barrier without all threads of the block"),
    "two_barriers": (1, 32, 32, 0, "threads of a block wait at different barriers"),
    "barrier_against_shuffle": (1, 32, 32, 0, "the threads of a block wait for each other without end"),
    "endless": (1, 1, 1, 0, "the kernel does not end"),
    "bfloat16_by_calls": (1, 32, 32, 0, ""),
    "bfloat16_of_two_threads": (1, 32, 32, 0, "a race: two writes"),
    "half_of_two_threads": (1, 32, 32, 0, "a race: two writes"),
    "half_outside": (1, 32, 32, 0, "out of bounds"),
    "half_that_nobody_wrote": (1, 32, 32, 0, UNWRITTEN),
    "vector_of_two_threads": (1, 32, 32, 0, "a race: two writes"),
    "vectors_by_calls": (1, 32, 32, 0, ""),
    # What a call returns into memory is not seen; the documentation says so, and that the read is reported.
    "struct_by_variable_of_two_threads": (1, 32, 32, 0, "a race: two writes"),
    "struct_by_call_of_two_threads": (1, 32, 32, 0, ""),
    "struct_by_call_that_is_read": (1, 32, 32, 0, UNWRITTEN),
    "one_value_by_volatile_stores": (1, 32, 32, 0, ""),
    "volatile_and_plain_store": (1, 32, 32, 0, "a race: two writes"),
}


@pytest.mark.parametrize("kernel", FAULTS)
def test_a_planted_fault_is_found_and_nothing_else(kernel: str, launch: Launch) -> None:
    grid, block, n, shared, what = FAULTS[kernel]
    with watch_kernels(seconds=1, library=False) as seen:
        x, y = ones(n), torch.zeros(n).cuda()
        launch(kernel, grid, block, x, y, n, shared)
    assert {problem.line.short for problem in seen.problems} <= set(marked(kernel, "// fault")), str(seen)
    assert (what in {problem.what for problem in seen.problems}) == bool(what), str(seen)
    for problem in seen.problems:
        assert problem.kernel == kernel and "block (" in problem.thread and problem.count > 0
    assert y.cpu().shape == (n,)  # the device goes on


def only_problem(seen: watch_kernels) -> Problem:
    (problem,) = seen.problems
    return problem


def test_a_report_names_line_thread_block_and_element(launch: Launch) -> None:
    x, y = ones(12).view(3, 4), ones(12)
    with watch_kernels(library=False, x=x, y=y) as seen:
        launch("total_by_plain_adds", 1, 2, x, y, 2)
    (line,) = marked("total_by_plain_adds", "// fault")
    assert str(seen).splitlines()[:5] == [
        "a race: a read and a write, 3 times in total_by_plain_adds",
        "  y[0], thread (1,0,0) of block (0,0,0) after thread (0,0,0) of block (0,0,0)",
        f"  here   {line}  y[0] += x[blockIdx.x * blockDim.x + threadIdx.x]; // fault",
        f"  before {line}  y[0] += x[blockIdx.x * blockDim.x + threadIdx.x]; // fault",
        "",
    ]
    with watch_kernels(library=False, x=x) as seen:
        launch("no_guard", 1, 20, y, x, 12)
    assert only_problem(seen).place == "right after the end of x, which has 48 bytes"


def test_memory_that_no_kernel_may_use(launch: Launch) -> None:
    on_host = torch.ones(32)
    with watch_kernels(library=False) as seen:
        launch("doubled", 1, 32, on_host, ones(32), 32)
    assert only_problem(seen).what == "a kernel uses memory of the host"
    with watch_kernels(library=False) as seen:
        x, y = ones(32), ones(32)
        address = x.data_ptr()
        del x
        launch("doubled", 1, 32, address, y, 32)
    assert only_problem(seen).what == "out of bounds" and only_problem(seen).place.endswith("which was freed")
    with watch_kernels(library=False) as seen:
        launch("doubled", 1, 32, torch.empty(32, device="cuda"), ones(32), 32)
    assert only_problem(seen).what == UNWRITTEN
    assert only_problem(seen).line.short == marked("doubled", "// fault")[0]
    with watch_kernels(library=False) as seen:
        x = torch.empty(32, device="cuda")
        y = ones(64)
        launch("doubled", 1, 32, x, y, 32)
        torch.cuda.synchronize()
        del x
        launch("doubled", 1, 32, torch.zeros(32, device="cuda"), y, 32)  # the same memory again
    assert seen.problems[0].what == UNWRITTEN and seen.problems[0].count == 32


@pytest.mark.parametrize(("half", "is_inside"), [(3, True), (5, False)])
def test_the_word_around_the_last_half_belongs_to_the_array(half: int, is_inside: bool, launch: Launch) -> None:
    with watch_kernels(library=False) as seen:
        y = torch.zeros(3, dtype=torch.half).cuda()
        launch("word_around_a_half", 1, 1, ones(1), y, half)
    assert [problem.what for problem in seen.problems] == ([] if is_inside else ["out of bounds"]), str(seen)


@pytest.mark.parametrize("waits", [False, True])
def test_two_streams(waits: bool, launch: Launch) -> None:
    side = torch.cuda.Stream()
    with watch_kernels(library=False) as seen:
        x, y = ones(32), ones(32)
        torch.cuda.synchronize()
        launch("doubled", 1, 32, y, x, 32)
        if waits:
            side.wait_stream(torch.cuda.current_stream())
        launch("doubled", 1, 32, x, y, 32, 0, side)
        torch.cuda.synchronize()
    kinds = sorted(problem.what for problem in seen.problems)
    assert kinds == ([] if waits else [f"{READ_WRITE} on two streams", f"{WRITE_READ} on two streams"])


@pytest.mark.parametrize("waits", [False, True])
def test_streams_of_a_graph(waits: bool, launch: Launch) -> None:
    side, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with watch_kernels(library=False) as seen:
        x, y = ones(32), ones(32)
        with torch.cuda.graph(graph):
            main = torch.cuda.current_stream()
            side.wait_stream(main)
            launch("doubled", 1, 32, y, x, 32)
            if waits:
                side.wait_stream(main)
            launch("doubled", 1, 32, x, y, 32, 0, side)
            main.wait_stream(side)
        for _ in range(2):
            graph.replay()  # the second one waits for the first one
        torch.cuda.synchronize()
    kinds = {problem.what for problem in seen.problems}
    assert kinds == (set() if waits else {f"{READ_WRITE} on two streams", f"{WRITE_READ} on two streams"})


def access(seen: watch_kernels, kernel: str, kind: str, space: str) -> Site:
    lines = marked(kernel, "// cost")
    (site,) = [s for s in seen.sites if (s.line.short in lines, s.kind, s.space) == (True, kind, space)]
    return site


def sectors(launch: Launch, kernel: str, kind: str, n: int, block: int = 32) -> float:
    with watch_kernels(library=False) as seen:
        launch(kernel, 1, block, ones(2048), ones(2048), n)
    site = access(seen, kernel, kind, "global")
    return site.sectors / site.instructions


def test_sectors_of_a_request(launch: Launch) -> None:
    strides = {stride: sectors(launch, "copy_with_stride", "load", stride) for stride in (1, 2, 8, 32)}
    assert strides == {1: 4, 2: 8, 8: 32, 32: 32}
    assert sectors(launch, "same_for_all", "load", 1) == 1
    assert sectors(launch, "transpose_naive", "load", 32, 1024) == 4
    assert sectors(launch, "transpose_naive", "store", 32, 1024) == 32


@pytest.mark.parametrize(("kernel", "passes"), [("tile_of_32", 32), ("tile_of_33", 1)])
def test_passes_over_the_banks(kernel: str, passes: int, launch: Launch) -> None:
    with watch_kernels(library=False) as seen:
        launch(kernel, 1, 32, ones(1024), ones(32), 32)
    site = access(seen, "column_of_tile", "load", "shared")
    assert (site.passes, site.least_passes, site.lanes) == (passes, 1, 32)
    assert f"{passes:.1f} passes, 1.0 needed" in str(seen)
    assert f"{passes} word" in repr(seen.draw_banks(site.line.line))


def test_lanes_and_collisions(launch: Launch) -> None:
    with watch_kernels(library=False) as seen:
        launch("even_and_odd", 1, 32, ones(32), ones(32), 32)
    (line,) = marked("even_and_odd", "// cost")
    assert [site.lanes for site in seen.sites if site.line.short == line and site.kind == "block"] == [16]
    (last,) = marked("even_and_odd", "// the lanes meet again")
    assert [site.lanes for site in seen.sites if site.line.short == last and site.kind == "store"] == [32]
    assert "16.0 lanes" in seen.draw_lines("even_and_odd").svg()
    with watch_kernels(library=False) as seen:
        launch("total_by_atomic_adds", 2, 32, ones(64), ones(1), 64)
    atomic = access(seen, "total_by_atomic_adds", "atomic", "global")
    assert (atomic.instructions, atomic.same_address) == (2, 64)


def test_pictures_of_arrays_and_lanes(launch: Launch) -> None:
    x, y = ones(64), ones(100)
    with watch_kernels(library=False, x=x, y=y) as seen:
        launch("doubled", 2, 32, x, y, 64)
    drawn = seen.draw_array("y")
    assert repr(drawn) == "[picture] y [100]: which thread wrote each element"
    assert drawn.svg().count("<polyline") == 36  # the elements that nobody wrote
    lanes = seen.draw_lanes(int(marked("doubled", "// fault")[0].split(":")[1]))
    assert repr(lanes).endswith("4 sectors") and "100 %" in lanes.svg()
    with pytest.raises(ValueError, match="there are: x, y"):
        seen.draw_array("z")
    with pytest.raises(ValueError, match="no store of shared memory was seen on line 1;"):
        seen.draw_banks(1, "store")


OWN = """
__global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = a[i] + b[i];
}
"""


@pytest.mark.parametrize("where", ["before", "inside"])
def test_a_kernel_of_ones_own_is_watched_wherever_it_was_compiled(where: str) -> None:
    kernel = torch.cuda._compile_kernel(OWN, "add") if where == "before" else None
    named = ones(60)
    with watch_kernels(library=False, named=named) as seen:
        kernel = kernel or torch.cuda._compile_kernel(OWN, "add")
        a, b, out = ones(64), ones(64), torch.empty(60, device="cuda")
        kernel(2, 32, (a, b, out, 59))
        torch.cuda.synchronize()
        assert torch.equal(out.cpu(), torch.full((60,), 2.0)) and not _C._cuda_watch_problem_count()
        kernel(2, 32, (a, b, out, 60))
        kernel(2, 32, (a, b, named, 59))
    problem = only_problem(seen)
    assert (problem.what, problem.kernel, problem.line.short) == ("out of bounds", "add", "add.cu:4")
    assert problem.place == "right after the end of out, which has 240 bytes"
    assert problem.thread == "thread (28,0,0) of block (1,0,0)"
    assert seen.findings == str(problem) and "here   add.cu:4  if (i <= n) out[i] = a[i] + b[i];" in seen.findings
    assert {array["name"] for array in seen.arrays} == {"a", "b", "out", "named"}
    kernel(2, 32, (a, b, named, 59))  # a watched kernel also runs after the with block
    assert named[0].item() == 2


def test_findings_say_that_there_are_none() -> None:
    with watch_kernels(library=False) as seen:
        ones(3)
    assert seen.findings == "no kernel was watched"
    with watch_kernels(library=False) as seen:
        torch.cuda._compile_kernel(OWN, "add")(2, 32, (ones(64), ones(64), ones(64), 63))
    assert seen.findings.startswith("nothing found: no race, nothing outside of an array")


def test_a_block_that_cannot_begin_leaves_nobody_watching() -> None:
    with pytest.raises(ValueError, match="expected a contiguous CUDA tensor for 'x'"), watch_kernels(x=torch.ones(3)):
        pass
    with watch_kernels(library=False):
        pass


def test_one_block_at_a_time() -> None:
    with watch_kernels(), pytest.raises(RuntimeError, match="cannot be nested"), watch_kernels():
        pass


# One op for each of some files of kernels that compile in two seconds to five; every_op.py has all of them.
OPS: dict[str, Callable[[torch.Tensor], Any]] = {
    "pointwise": lambda x: torch.where(x[:33, :33].t() > 0, x[:33, :33], x[0, 0]),
    "half": lambda x: torch.where(x > 0, *(torch.full_like(x, value, dtype=torch.half) for value in (2, 3))),
    "reduction": lambda x: (x.sum(1), x.sum(0), x.sum()),
    "softmax": lambda x: torch.softmax(x, 1),
    "matmul": lambda x: x @ x.t(),
    "sort": lambda x: torch.sort(x, 1)[0],
}


SENDER = """
import sys, reftorch as torch, reftorch.multiprocessing
from multiprocessing.reduction import ForkingPickler
beside = [torch.ones(100, device="cuda"), torch.ones(100, device="cuda"), torch.ones(100, device="cuda")]
print(bytes(ForkingPickler.dumps(beside[1])).hex(), flush=True)
sys.stdin.read()
"""


def test_a_tensor_of_another_process_is_known_and_counts_as_written(launch: Launch) -> None:
    y = torch.zeros(100).cuda()
    with subprocess.Popen(
        [sys.executable, "-c", SENDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        message = bytes.fromhex(other.stdout.readline())
        with watch_kernels(library=False) as seen:
            x = pickle.loads(message)
            launch("doubled", 2, 64, x, y, 100)
            assert y.tolist() == [2] * 100
            launch("no_guard", 2, 64, y, x, 100)
            launch("element_before_the_first", 2, 64, x, y, 100)
            torch.cuda.synchronize()
        assert other.communicate()[0] == "" and other.returncode == 0
    assert [(problem.what, problem.kernel) for problem in seen.problems] == [
        ("out of bounds", "no_guard"),
        ("out of bounds", "element_before_the_first"),
    ], str(seen)
    assert "right after the end of an array of 400 bytes" in str(seen)
    assert "4 bytes before an array of 400 bytes" in str(seen)


def test_the_librarys_kernels_are_watched_and_have_no_faults() -> None:
    x = torch.randn(33, 40)
    on_device = x.cuda()
    with watch_kernels(x=on_device) as seen:
        results = {name: op(on_device) for name, op in OPS.items()}
    assert seen.problems == [], str(seen)
    assert all(launch["instrumented"] for launch in seen.launches), seen.notes
    for name, op in OPS.items():
        torch.testing.assert_close(results[name], op(x), check_device=False)
    by_kernel = {site.kernel.partition("<")[0] for site in seen.sites}
    assert {"elementwise_kernel", "reduce_kernel"} <= by_kernel, by_kernel
    with watch_kernels(library=False) as seen:  # the built kernels are back
        on_device.sum()
    assert [launch["instrumented"] for launch in seen.launches] == [False] and seen.sites == []
    assert seen.notes and "reduce_kernel" in seen.notes[0]


# Ops whose threads share a row or a column: the call, and the result that is compared.
REDUCTIONS: dict[str, Callable[[torch.Tensor, int], torch.Tensor]] = {
    "sum": lambda x, dim: x.sum(dim),
    "softmax": lambda x, dim: torch.softmax(x, dim),
    "layer_norm": lambda x, dim: torch.nn.functional.layer_norm(x, (x.shape[dim],)),
}
SHAPES = [((64, 64), 1), ((64, 64), 0), ((8, 512), 1), ((512, 96), 0), ((5, 24), 1)]
CASES = [(op, *case) for op in REDUCTIONS for case in SHAPES if op != "layer_norm" or case[1] == 1]


@pytest.mark.parametrize(("op", "shape", "dim"), CASES)
def test_neighbouring_threads_of_a_reduction_read_neighbouring_elements(
    op: str, shape: tuple[int, int], dim: int
) -> None:
    x = torch.randn(shape)
    on_device = x.cuda()
    with watch_kernels() as seen:
        result = REDUCTIONS[op](on_device, dim)
    assert seen.problems == [], str(seen)
    torch.testing.assert_close(result.cpu(), REDUCTIONS[op](x, dim), atol=1e-4, rtol=1e-5)
    loads = [s for s in seen.sites if (s.kind, s.space) == ("load", "global")]
    assert loads and all(site.sectors == site.least_sectors for site in loads), str(seen)
