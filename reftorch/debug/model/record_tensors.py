"""Recordings of the inputs and outputs of a model's modules.

Mirrors: nothing in PyTorch, where people write such hooks themselves.
Left out: ops between modules; see find_nan for single ops.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from reftorch._thread_local import ThreadLocal
from reftorch.debug.common.expect import expect_module
from reftorch.debug.common.flatten import flatten
from reftorch.debug.common.library import is_lazy, why_no_values
from reftorch.debug.common.table import Report, Table, counted, dtype_text, shape_text
from reftorch.debug.model.comparison import Comparison, as_float64, as_int64, is_integral


class record_tensors(Report, Mapping[str, Any]):
    """Record the inputs and outputs of every module of a model while the block runs, by name.

    A name is the module's dotted name, then ``input`` or ``output``, then the path in tuples, lists and dicts:
    ``encoder.0/output/hidden/1``. The names of the model itself begin with ``input`` or ``output``. The second call of
    a module is ``encoder.0#2``. The names have the order of the events, so the first difference from another run is
    where the runs begin to differ. An argument that the call has changed, and does not return, is recorded again as
    ``encoder.0/written/0``. If an error ends the block, the recording and the error name the module. A tensor on meta
    is recorded with its shape. ``==`` of two recordings says whether names and values are exactly equal; see ``diff``
    for the first difference.

    Args:
        model: a module of reftorch or torch.
        depth: the largest depth of recorded modules: 0 for the model alone, 1 for its children too; None for all.
        detach: record copies of the values at that moment, without graph. False records the tensors themselves: they
            keep their graph alive, and an in-place op changes the recorded values.
        device: the device of the copies; None keeps the device of each tensor.
        gradients: record the gradients of outputs as well, as ``encoder.0/grad_output``, while backward runs in the
            block.

    Example:
        >>> from reftorch.debug import record_tensors
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
        >>> with record_tensors(net) as run:
        ...     _ = net(torch.ones(1, 2))
        >>> list(run)
        ['input', '0/input', '0/output', '1/input', '1/output', 'output']
        >>> run["1/output"].shape
        torch.Size([1, 3])
        >>> with record_tensors(net) as other:
        ...     _ = net(torch.ones(1, 2))
        >>> run.diff(other)
        tensors: all 6 agree; largest |a - b| 0
    """

    def __init__(
        self, model: Any, *, depth: int | None = None, detach: bool = True, device: Any = None, gradients: bool = False
    ) -> None:
        expect_module("record_tensors", model)
        self.model = model
        self._depth, self._detach, self._device, self._gradients = depth, detach, device, gradients
        self._tensors: dict[str, Any] = {}
        self._calls: dict[str, int] = {}
        self._threads = ThreadLocal()  # a model may run in several threads at once
        self._handles: list[Any] = []
        self._raised: tuple[BaseException, str] | None = None  # the innermost module that raised
        self._ended = ""

    def __enter__(self) -> record_tensors:
        if self._handles:
            raise RuntimeError("record_tensors: it records already. Hint: make a new one for a block inside.")
        for name, module in self.model.named_modules():
            if self._depth is None or level(name) <= self._depth:
                self._watch(name, module)
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is not None and self._raised is not None and self._raised[0] is error:
            self._ended = f"ended by {type(error).__name__} in {self._raised[1]}"
            if hasattr(error, "add_note"):  # since Python 3.11
                error.add_note(f"record_tensors: raised in {self._raised[1]}")
        self._raised = None
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._running().clear()

    def _running(self) -> list[tuple[Any, str, list]]:
        """Return the calls that run in this thread: module, name of the call, and the versions of its inputs."""
        if not hasattr(self._threads, "running"):
            self._threads.running = []
        running: list[tuple[Any, str, list]] = self._threads.running
        return running

    def _watch(self, name: str, module: Any) -> None:
        def before(module: Any, args: tuple, kwargs: dict[str, Any]) -> None:
            self._calls[name] = self._calls.get(name, 0) + 1
            number = self._calls[name]
            call = name if number == 1 else f"{name}#{number}"
            lone = len(args) == 1 and not kwargs
            named: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
            arguments = args[0] if lone else named
            written = [
                (path, t, t._version) for path, t in flatten(arguments, place(call, "written")) if has_version(t)
            ]
            self._running().append((module, call, written))
            self._keep(place(call, "input"), arguments)

        def after(module: Any, args: tuple, kwargs: dict[str, Any], output: Any) -> None:
            running = self._running()
            if not running or running[-1][0] is not module:
                return  # the block began inside this call, or an error ended the call
            _, call, written = running.pop()
            error = sys.exc_info()[1]
            if error is not None and output is None and (self._raised is None or self._raised[0] is not error):
                self._raised = (error, f"{call or 'the model itself'} ({type(module).__name__})")
            self._keep(place(call, "output"), output)
            returned = {id(tensor) for _, tensor in flatten(output, "")}
            for path, tensor, version in written:
                if tensor._version != version and id(tensor) not in returned:
                    self._tensors[path] = self._copy(tensor)
            if self._gradients:
                self._keep_gradients(place(call, "grad_output"), output)

        self._handles.append(module.register_forward_pre_hook(before, with_kwargs=True))
        self._handles.append(module.register_forward_hook(after, with_kwargs=True, always_call=True))

    def _keep(self, path: str, value: Any) -> None:
        for name, tensor in flatten(value, path):
            self._tensors[name] = self._copy(tensor)

    def _keep_gradients(self, path: str, output: Any) -> None:
        for name, tensor in flatten(output, path):
            if tensor.requires_grad:
                self._handles.append(tensor.register_hook(lambda grad, name=name: self._keep(name, grad)))

    def _copy(self, tensor: Any) -> Any:
        if not self._detach or is_lazy(tensor):
            return tensor
        copied = tensor.detach().clone()
        return copied if self._device is None else copied.to(self._device)

    def __getitem__(self, name: str) -> Any:
        if name in self._tensors:
            return self._tensors[name]
        import difflib

        near = difflib.get_close_matches(name, self._tensors, n=3, cutoff=0.4)
        hint = f"the nearest names are {near}" if near else f"there are {len(self)} names; list(...) shows them"
        raise KeyError(f"record_tensors: nothing was recorded as '{name}'. Hint: {hint}.")

    def __contains__(self, name: object) -> bool:
        return name in self._tensors

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __eq__(self, other: object) -> bool:
        """Return whether the other recording has the same names and exactly equal values; NaN equals NaN."""
        if self is other:
            return True
        if not isinstance(other, Mapping):
            return NotImplemented
        found = Comparison(self, other, 0.0, 0.0)
        return not found.differs and found.compared == len(found.rows)

    __hash__ = None  # type: ignore[assignment]

    def diff(self, other: Mapping[str, Any], rtol: float | None = None, atol: float | None = None) -> Comparison:
        """Compare with another run, name by name.

        Args:
            other: another recording, perhaps of a model of torch, or any mapping from such names to tensors.
            rtol, atol: the allowed difference: ``|a - b| <= atol + rtol * |b|``; None chooses the values by the dtypes.

        Returns:
            The comparison that :func:`compare` returns for activations: ``first`` is the first difference, ``equal`` is
            True if there is none.

        Example:
            >>> from reftorch.debug import record_tensors
            >>> net, runs = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.ReLU()), []
            >>> for bias in (1.0, 2.0):
            ...     _ = net[0].bias.data.fill_(bias)
            ...     with record_tensors(net) as run:
            ...         _ = net(torch.zeros(1))
            ...     runs.append(run)
            >>> runs[0].diff(runs[1]).first.name
            '0/output'
        """
        return Comparison(self, other, rtol, atol)

    def tables(self) -> list[Table]:
        rows = [(name, *kind(tensor), *statistics(tensor)) for name, tensor in self._tensors.items()]
        modules = counted(len(self._calls), "module")
        caption = f"{counted(len(rows), 'tensor')} in {counted(sum(self._calls.values()), 'call')} of {modules}"
        if not self._calls:
            caption = "nothing was recorded: no module of the model was called in the block"
        notes = [self._ended] if self._ended else []
        return [Table(["name", "dtype", "shape", "min", "mean", "max"], rows, caption, notes)]


def level(name: str) -> int:
    """Return the depth of the module with this dotted name below the model, whose depth is 0."""
    return name.count(".") + 1 if name else 0


def place(call: str, kind: str) -> str:
    return f"{call}/{kind}" if call and not call.startswith("#") else f"{kind}{call}"


def has_version(tensor: Any) -> bool:
    """Return whether an op in place leaves a trace: a tensor that was made in inference mode counts no versions."""
    return not is_lazy(tensor) and not tensor.is_inference()


def kind(tensor: Any) -> tuple[str, str]:
    """Return the dtype and the shape; a lazy parameter has no shape yet."""
    return dtype_text(tensor), "not known yet" if is_lazy(tensor) else shape_text(tensor.shape)


def statistics(tensor: Any) -> tuple[Any, Any, Any]:
    """Return the smallest, the mean and the largest element; None of a tensor without values."""
    if why_no_values(tensor) or tensor.numel() == 0:
        return None, None, None
    values = as_float64(tensor)
    if is_integral(tensor):  # the ends are exact
        numbers = as_int64(tensor)
        return int(numbers.min()), float(values.mean()), int(numbers.max())
    return float(values.min()), float(values.mean()), float(values.max())
