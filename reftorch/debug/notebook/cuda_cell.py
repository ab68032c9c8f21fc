"""A notebook cell of CUDA C++ whose kernels become Python callables, for ``%%cuda``.

Mirrors: nothing in PyTorch, whose users call ``torch.cuda._compile_kernel(source, name)``
Left out: templates, because a cell does not say with which types; ``torch.cuda._compile_kernel(source, "k<float>")``
makes one of their kernels.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from IPython.display import display

from reftorch.debug.common.native import NeedsDebugBuild, StaleLibrary, native
from reftorch.debug.core import gdb_session as session
from reftorch.debug.core.find_gdb import GdbNotFound
from reftorch.debug.core.gdb_report import GdbReport
from reftorch.debug.kernels import watch
from reftorch.debug.kernels.instrument import instrument_flags

FILE = "cell.cu"  # the name of a cell's text in messages and for breakpoints


class NoKernel(ValueError):
    """The cell has no kernel that Python can call."""


def compile_cell(cell: str, extra_flags: list[str], is_watched: bool = False) -> dict[str, Any]:
    """Compile the kernels of a cell and return them by their names.

    Args:
        cell: the text below the line of the magic, which counts as line 1, as in the notebook.
        extra_flags: definitions and folders for the compiler.
        is_watched: whether the kernels show at each launch what the watcher of kernels has found.

    Raises:
        NoKernel: the cell has no kernel, or only templates.
        RuntimeError: the text does not compile, or kernels cannot be watched here.
        AssertionError: there is no CUDA device.
    """
    import reftorch
    from reftorch.cuda import _kernel_compiler, _kernel_source
    from reftorch.cuda._kernels import _CudaKernel

    if is_watched:
        watch.check_device("%%cuda --watch")
    reftorch.cuda.init()
    declared = _kernel_source.kernels_of(cell)
    names = [each.name for each in declared if not each.is_template]
    if not names:
        templates = f" {', '.join(each.name for each in declared)} is a template." if declared else ""
        raise NoKernel(
            f"The cell has no kernel that Python can call.{templates} Hint: a kernel is a function that begins with "
            "`__global__ void`, and is not a template."
        )
    instrumentation = instrument_flags() if is_watched else None
    text = f"// %%cuda\n{cell}"
    compiled = _kernel_compiler.CompiledKernels(text, names, FILE, extra_flags, instrumentation=instrumentation)
    kernels = {name: _CudaKernel(name, compiled) for name in names}
    return {name: WatchedKernel(kernel) for name, kernel in kernels.items()} if is_watched else kernels


def reset_failed_devices() -> str:
    """Make simulated devices usable again that a kernel's error has made unusable; return a sentence if there were any.

    On a GPU, every later call fails until the process ends, and a notebook would have to start again.
    """
    reset = getattr(ctypes.CDLL(native().library), "cudasim_reset_failed_devices", None)
    if reset is None or reset() == 0:
        return ""
    return "An earlier kernel has made the device unusable. The simulator has reset it; a GPU would need a new process."


class StoppingKernel:
    """A kernel whose calls run with gdb attached, until one of them has stopped.

    Args:
        kernel: the kernel.
        job: where to stop, and what to show there.
        raised: called with an error of gdb; it raises the error that a notebook shows.
    """

    def __init__(self, kernel: Any, job: session.Job, raised: Callable[[Exception], None]) -> None:
        self.kernel, self.job, self._raised = kernel, job, raised
        self.has_stopped = False

    def __repr__(self) -> str:
        return repr(self.kernel) if self.has_stopped else f"{self.kernel!r}, stops at {', '.join(self.job.breaks)}"

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Launch the kernel. The first call waits for its end, and shows the thread that has stopped."""
        import reftorch

        def run() -> None:
            self.kernel(*args, **kwargs)
            reftorch.cuda.synchronize()

        if self.has_stopped:
            self.kernel(*args, **kwargs)
            return
        reftorch.cuda.synchronize()  # earlier work must not stop
        try:
            events, _ = session.run_attached(run, self.job)
        except (session.GdbFailed, GdbNotFound, NeedsDebugBuild, StaleLibrary) as error:
            self._raised(error)
            return
        if any(event["kind"] in ("stop", "bad_break", "error") for event in events):
            self.has_stopped = any(event["kind"] == "stop" for event in events)
        else:
            places = ", ".join(self.job.breaks)
            events.append({"kind": "note", "text": f"The kernel ended without a thread that reached {places}."})
        display(GdbReport(events))


class WatchedKernel:
    """A kernel whose launches are watched. Each waits for its end, and shows what the watcher has found.

    Attributes:
        seen: the whole report of the latest launch, with the cost of each line and pictures; None before the first.
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.seen: watch.watch_kernels | None = None

    def __repr__(self) -> str:
        return f"{self.kernel!r}, watched"

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Launch the kernel. Inside of a block of ``watch_kernels``, the block has the report."""
        if watch.is_open():
            self.kernel(*args, **kwargs)
            return
        seen = watch.watch_kernels(library=False)
        try:
            with seen:
                self.kernel(*args, **kwargs)
        finally:  # also when the user interrupts a kernel, to show where it was
            if seen.launches:
                self.seen = seen
                print(f"{self.kernel.func}, watched: {seen.findings}")
