"""Find missing waits between CUDA streams, whether or not a run happens to go wrong.

    import reftorch as torch
    import reftorch.cuda._sanitizer as csan
    csan.enable_cuda_sanitizer()

Each op of the program is checked: an op that reads or writes memory must come after the last op on another stream that
wrote the memory, by an event, a wait of a stream or a wait of the host. Two more mistakes are found here, and not in
PyTorch: memory is freed while another stream uses it (``record_stream`` is missing), and the host uses pinned memory
before a copy is done.

Mirrors: torch/cuda/_sanitizer.py
Leaves out: GPUs; the sanitizer needs the simulated device. Kernels that an extension launches itself: only ops count.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator
from typing import Any, NamedTuple

import reftorch as torch
from reftorch import _C
from reftorch._source_paths import PACKAGE
from reftorch.utils._python_dispatch import TorchDispatchMode

OURS = f"{PACKAGE}/"  # of a stack trace, the lines of the library are left out
# Ops that make views or look at metadata use no memory.
NOT_A_USE = ("aten::detach", "aten::record_stream", "aten::is_pinned")


class SynchronizationError(Exception):
    """The base class of what the sanitizer finds."""


class Access(NamedTuple):
    """An op that uses memory.

    Attributes:
        operator: the op's schema.
        stream: the number of its stream.
        uses: which arguments it reads and writes, in words.
        stack_trace: the lines of the program that called the op.
    """

    operator: str
    stream: int
    uses: str
    stack_trace: str


class UnsynchronizedAccessError(SynchronizationError):
    """Two ops on different streams use the same memory, one of them writes, and nothing orders them."""

    def __init__(self, data_ptr: int, current_access: Access, previous_access: Access) -> None:
        self.data_ptr, self.current_access, self.previous_access = data_ptr, current_access, previous_access

    def __str__(self) -> str:
        lines = [f"CSAN detected a possible data race on tensor with data pointer {self.data_ptr}"]
        for which, access in (("Access", self.current_access), ("Previous access", self.previous_access)):
            lines += [f"{which} by stream {access.stream} during kernel:", access.operator, access.uses]
            lines += ["With stack trace:", access.stack_trace]
        return "\n".join(lines)


class MemoryInUseError(SynchronizationError):
    """Memory is freed or used by the host while an operation of a stream still uses it."""


class CUDASanitizerErrors(Exception):
    """All errors of one op."""

    def __init__(self, errors: list[SynchronizationError]) -> None:
        self.errors = errors

    def __str__(self) -> str:
        return f"detected {len(self.errors)} errors\n\n" + "\n\n".join(map(str, self.errors))


class CUDASanitizerDispatchMode(TorchDispatchMode):
    """Tells the watcher of the simulator which memory each op uses, and raises what it finds."""

    def __init__(self) -> None:
        self.accesses: dict[int, Access] = {}  # by the watcher's numbers
        self.reported = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        errors = [*self._conflicts(func, args, kwargs or {}, result), *self._other_errors()]
        if errors:
            raise CUDASanitizerErrors(errors)
        return result

    def _conflicts(self, func: Any, args: tuple, kwargs: dict[str, Any], result: Any) -> list[SynchronizationError]:
        schema = func._schema
        if schema._is_view_op() or schema.name in NOT_A_USE:
            return []
        reads: list[torch.Tensor] = []
        writes: list[torch.Tensor] = []
        words: dict[str, list[str]] = {"reading": [], "writing": []}
        for i, argument in enumerate(schema.arguments):
            found = list(tensors_in(args[i] if i < len(args) else kwargs.get(argument.name)))
            written = argument.alias_info is not None and argument.alias_info.is_write
            if found:
                (writes if written else reads).extend(found)
                words["writing" if written else "reading"].append(argument.name)
        given = {tensor.data_ptr() for tensor in (*reads, *writes)}
        made = [tensor for tensor in tensors_in(result) if tensor.data_ptr() not in given]
        if made:
            writes += made
            words["writing"].append("output")
        uses = ", ".join(f"{verb} {', '.join(names)}" for verb, names in words.items() if names)
        errors: list[SynchronizationError] = []
        for device in {tensor.device for tensor in (*reads, *writes)}:  # a copy to another device uses both streams
            stream = torch.cuda.current_stream(device)
            spans = [[span(tensor) for tensor in tensors if tensor.device == device] for tensors in (reads, writes)]
            number, conflicts = _C._cuda_watch_op(stream.stream_id, stream.device_index, schema.name, *spans)
            here = self.accesses[number] = Access(str(schema), stream.cuda_stream, uses, calling_lines())
            errors += [
                UnsynchronizedAccessError(address, here, self.accesses[earlier])
                for address, earlier, _ in conflicts
                if earlier in self.accesses
            ]
        return errors

    def _other_errors(self) -> Iterator[SynchronizationError]:
        if _C._cuda_watch_problem_count() > self.reported:
            problems = json.loads(_C._cuda_watch_report())["problems"]
            new, self.reported = problems[self.reported :], len(problems)
            for problem in new:
                texts = (problem["what"], problem["place"], problem["thread"], problem["note"])
                yield MemoryInUseError(": ".join(filter(None, texts)))


class CUDASanitizer:
    """The sanitizer of a process, which is off until it is enabled.

    Example:
        >>> from reftorch.cuda._sanitizer import cuda_sanitizer
        >>> cuda_sanitizer.enabled
        False
    """

    def __init__(self) -> None:
        self.dispatch = CUDASanitizerDispatchMode()
        self.enabled = False

    def enable(self) -> None:
        """Check each op from now on.

        Raises:
            RuntimeError: there is no simulated device, or ``watch_kernels`` is watching.
        """
        if not getattr(_C, "_cuda_is_simulated", False) or not torch.cuda.is_available():
            raise RuntimeError(
                "The CUDA sanitizer needs the simulated device. Hint: REFTORCH_CUDA_SIM=1 before Python starts."
            )
        torch.cuda.init()
        for device in range(torch.cuda.device_count()):
            torch.cuda.synchronize(device)
        _C._cuda_emptyCache()  # pinned memory that is watched is allocated anew
        if not _C._cuda_watch_start(0):
            raise RuntimeError("The CUDA sanitizer cannot be enabled: kernels are being watched")
        self.dispatch = CUDASanitizerDispatchMode()
        self.dispatch.__enter__()
        self.enabled = True

    def disable(self) -> None:
        """End the checks."""
        self.dispatch.__exit__(None, None, None)
        for device in range(torch.cuda.device_count()):
            torch.cuda.synchronize(device)
        _C._cuda_watch_stop()
        self.enabled = False


def enable_cuda_sanitizer() -> None:
    """Enable the CUDA sanitizer: each op raises if it is not ordered after an op of another stream that it depends on.

    Raises:
        RuntimeError: there is no simulated device, or ``watch_kernels`` is watching.

    Example:
        >>> import reftorch.cuda._sanitizer as csan
        >>> if torch.cuda.is_available():
        ...     csan.enable_cuda_sanitizer()

    Mirrors torch/cuda/_sanitizer.py, ``enable_cuda_sanitizer``.
    """
    cuda_sanitizer.enable()


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yield the CUDA tensors in a value of an argument or a result."""
    if isinstance(value, torch.Tensor):
        if value.is_cuda and value.numel() > 0:
            yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from tensors_in(each)


def span(tensor: torch.Tensor) -> tuple[int, int]:
    """Return the address of the first element, and the bytes from there to the end of the last one."""
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.data_ptr(), (last + 1) * tensor.element_size()


def calling_lines() -> str:
    """Return the lines of the program, outside of the library, that lead to the present op."""
    frames = [frame for frame in traceback.extract_stack() if not frame.filename.startswith(OURS)]
    return "".join(traceback.format_list(frames)).rstrip()


cuda_sanitizer = CUDASanitizer()
