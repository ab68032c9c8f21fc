"""Watch kernels on the simulated device: faults with line, thread and address, and what each line costs.

Mirrors: nothing in PyTorch, whose users run NVIDIA's compute-sanitizer and Nsight Compute
Leaves out: GPUs; durations, bandwidth, occupancy, caches and tensor cores.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any

import reftorch as torch
from reftorch import _C
from reftorch.cuda import _kernel_compiler
from reftorch.debug.common.svg import Picture
from reftorch.debug.kernels.instrument import InstrumentedFile, instrument_flags
from reftorch.debug.kernels.pictures import draw_array, draw_banks, draw_lanes, draw_lines
from reftorch.debug.kernels.report import KernelReport, Site

_files: dict[str, InstrumentedFile] = {}  # the copies that this process has loaded
_open: watch_kernels | None = None


class watch_kernels(KernelReport):
    """Watch the CUDA kernels that run in a block, on the simulated device.

    Each load and store of each thread is checked: races in shared and global memory, inside a block, between blocks and
    between streams; addresses outside of an array, in freed memory or on the host; reads of memory that nobody has
    written; barriers that some threads leave out; a kernel that does not end. The report names the line, the thread,
    the block and the address in words, and a table says what each line costs: sectors of global memory, passes over the
    banks of shared memory, active lanes, colliding atomic operations.

    Kernels of one's own, from ``torch.cuda._compile_kernel`` or a cell ``%%cuda``, are compiled with instrumentation:
    at once if the block compiles them, and otherwise a second time when the block launches them. Those in libraries of
    one's own are compiled with the options that :func:`instrument_flags` returns. The library's own kernels are
    compiled once more when the block first calls an op of their file; that takes some seconds and is kept for the next
    time. A watched kernel is 2 to 60 times slower. This needs the Debug build and ``REFTORCH_CUDA_SIM=1``.

    A store of one's own struct that a call returns into memory, ``out[i] = f(x)``, is not seen: no fault of it is
    found, and a later read of the element is reported as a read of memory that nobody has written. With a variable it
    is seen: ``Pair p = f(x); out[i] = p;``.

    Args:
        seconds: how long a kernel may run before it is stopped.
        library: whether to watch the library's own kernels.
        arrays: contiguous tensors; the report calls them by their keywords, and has a picture of each. The other
            tensors that a kernel of one's own gets are called by the names of its parameters.

    Attributes:
        problems: the faults, a list with a ``what``, a ``line``, a ``thread`` and a ``place`` each.
        findings: the faults as text; a sentence if there are none.
        sites: the places of the kernels with their counts.

    Raises:
        RuntimeError: (on entering) there is no simulated device, or another block watches.
        ValueError: (on entering) one of the arrays is not a contiguous CUDA tensor.

    Example:
        >>> from reftorch.debug import watch_kernels
        >>> source = "__global__ void fill(float* x, int n) { if (threadIdx.x <= n) x[threadIdx.x] = 1; }"
        >>> if torch.cuda.is_available():
        ...     with watch_kernels() as seen:
        ...         fill = torch.cuda._compile_kernel(source, "fill")
        ...         fill(block=32, args=[torch.empty(20, device="cuda"), 20])
        ...     print(seen.findings)  # out of bounds: right after the end of x, by thread (20,0,0) on line 1 of fill.cu
        >>> if torch.cuda.is_available():
        ...     x = torch.randn(64, 96, device="cuda")
        ...     with watch_kernels(x=x) as seen:
        ...         y = x.t().contiguous()
        ...     print(seen)  # no problems; a load takes 32 sectors, and 4 would do
    """

    def __init__(self, *, seconds: int = 60, library: bool = True, **arrays: Any) -> None:
        super().__init__()
        self._seconds, self._library, self._named = seconds, library, arrays

    def __enter__(self) -> watch_kernels:
        global _open
        check_device("watch_kernels")
        for name, tensor in self._named.items():
            check_array(name, tensor)
        if _open is not None:
            raise RuntimeError("watch_kernels: another block is watching; blocks cannot be nested")
        torch.cuda.init()
        synchronize()
        _C._cuda_emptyCache()  # pinned memory that is watched is allocated again
        if not _C._cuda_watch_start(self._seconds):
            raise RuntimeError("watch_kernels: the CUDA sanitizer is watching this process")
        _open = self
        for name, tensor in self._named.items():
            name_array(name, tensor)
        _kernel_compiler.watching = _kernel_compiler.Watching(tuple(instrument_flags()), self._name_argument)
        if self._library:
            _C._cuda_watch_kernel_files(self._use)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _kernel_compiler.watching = None
        _C._cuda_watch_kernel_files(None)
        failure: RuntimeError | None = None
        try:
            synchronize()
        except RuntimeError as caught:
            failure = caught
        finally:  # also when the user interrupts the wait
            self._end()
        if failure is not None and error is None and not self.problems:  # nothing in the report explains the failure
            raise failure

    def _end(self) -> None:
        global _open
        _C._cuda_watch_stop()
        for file in _files.values():
            file.restore()
        _open = None
        self.read(json.loads(_C._cuda_watch_report()))

    @staticmethod
    def _use(file: str) -> None:
        """Put instrumented copies of the kernels of a file in place of the built ones. The stubs call this."""
        if Path(file).suffix == ".cu":
            if file not in _files:
                _files[file] = InstrumentedFile(file)
            _files[file].use()

    def _name_argument(self, parameter: str, tensor: Any) -> None:
        """Name a tensor after the parameter of the kernel that gets it, if the block has not named it."""
        named = (each.data_ptr() for each in self._named.values())
        if tensor.is_cuda and tensor.is_contiguous() and tensor.data_ptr() not in named:
            name_array(parameter, tensor)

    def draw_array(self, name: str, by: str = "thread") -> Picture:
        """Draw the elements of a named array, each in the colour of the kernel's thread that wrote it last.

        Args:
            name: the array's name, a keyword of ``watch_kernels`` or a parameter of the kernel.
            by: what has a colour: ``"thread"``, ``"lane"``, ``"warp"`` or ``"block"``.

        Raises:
            ValueError: no array has this name, or it has more than 64 KiB.
        """
        array = next((array for array in self.arrays if array["name"] == name), None)
        if array is None or not array["elements"]:
            names = ", ".join(array["name"] for array in self.arrays if array["elements"]) or "none"
            raise ValueError(
                f"draw_array: expected the name of an array of at most 64 KiB, got {name!r}; there are: {names}"
            )
        return draw_array(array, self.launches[-1], by)

    def draw_lanes(self, line: int, kind: str = "load") -> Picture:
        """Draw the lanes of one instruction, and the sectors of global memory that they ask for.

        Args:
            line: the number of the line in the kernel's source.
            kind: ``"load"``, ``"store"`` or ``"atomic"``.

        Raises:
            ValueError: no such access of global memory was seen on this line.
        """
        return draw_lanes(self._access(line, kind, "global"))

    def draw_banks(self, line: int, kind: str = "load") -> Picture:
        """Draw the 32 banks of shared memory, and the words that the lanes of one instruction want from each.

        Args:
            line: the number of the line in the kernel's source.
            kind: ``"load"``, ``"store"`` or ``"atomic"``.

        Raises:
            ValueError: no such access of shared memory was seen on this line.
        """
        return draw_banks(self._access(line, kind, "shared"))

    def draw_lines(self, kernel: str = "") -> Picture:
        """Draw for each line of a kernel how often warps run it, and how many of their lanes are active.

        Args:
            kernel: a part of the kernel's name.

        Raises:
            ValueError: no kernel of this name was watched.
        """
        sites = [site for site in self.sites if kernel in site.kernel and site.kind == "block"]
        if not sites:
            raise ValueError(f"draw_lines: no kernel was watched whose name contains {kernel!r}")
        return draw_lines([site for site in sites if site.kernel == sites[0].kernel])

    def _access(self, line: int, kind: str, space: str) -> Site:
        """Return the access on a line that costs most."""
        found = [
            site
            for site in self.sites
            if (site.line.line, site.kind, site.space) == (line, kind, space) and site.samples
        ]
        if not found:
            seen = sorted({site.line.line for site in self.sites if (site.kind, site.space) == (kind, space)})
            raise ValueError(f"no {kind} of {space} memory was seen on line {line}; there are some on lines {seen}")
        return max(found, key=lambda site: site.sectors + site.passes)


def is_open() -> bool:
    """Return whether a block watches kernels."""
    return _open is not None


def check_device(what: str) -> None:
    """Raise an error if kernels cannot be watched here.

    Raises:
        RuntimeError: there is no simulated device; the message says what to do.
    """
    if not getattr(_C, "_cuda_is_simulated", False):
        raise RuntimeError(
            f"{what}: needs the simulated device, which this build does not have. Hint: the Debug build has it; on a "
            "GPU, run the program under NVIDIA's compute-sanitizer, which finds such faults there."
        )
    if not torch.cuda.is_available():
        raise RuntimeError(f"{what}: needs the simulated device. Hint: REFTORCH_CUDA_SIM=1 before Python starts.")


def check_array(name: str, tensor: Any) -> None:
    if not isinstance(tensor, torch.Tensor) or not tensor.is_cuda or not tensor.is_contiguous():
        raise ValueError(f"watch_kernels: expected a contiguous CUDA tensor for '{name}'")


def name_array(name: str, tensor: Any) -> None:
    """Give the memory of a contiguous CUDA tensor a name, and its elements their indices, in the watcher's report."""
    if tensor.numel() > 0:
        _C._cuda_watch_name(tensor.data_ptr(), name, tensor.element_size(), list(tensor.shape))


def synchronize() -> None:
    """Wait for the work of all devices."""
    for device in range(torch.cuda.device_count()):
        torch.cuda.synchronize(device)
