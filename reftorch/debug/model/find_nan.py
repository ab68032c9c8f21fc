"""A search for the first NaN or infinity: the op that made it, the module, and the calling line.

Mirrors: torch/autograd/anomaly_mode.py, for backward; nothing in PyTorch for forward
Left out: numbers that numpy changes in shared memory, which are found only when an op reads them.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

from reftorch import _C
from reftorch._thread_local import ThreadLocal
from reftorch.debug.common.expect import expect_module
from reftorch.debug.common.flatten import flatten
from reftorch.debug.common.library import is_lazy, is_tensor, libraries, library_of, ours, why_no_values
from reftorch.debug.common.op_info import op_info
from reftorch.debug.common.ops import Line, Lines, Observer, calling_lines
from reftorch.debug.common.table import Report, Table, counted, dtype_text, shape_text
from reftorch.debug.model.comparison import is_integral, unravel

ORIGIN = "reftorch.debug.find_nan"  # the key under which a node stores its forward call


class NonFinite(RuntimeError):
    """The error that ``find_nan(stop=True)`` raises at the op that made the first NaN or infinity."""


@dataclass
class NonFiniteOp:
    """The first NaN or infinity.

    ``kind`` is "NaN" or "Inf". ``how`` is "made", or "came in" if an argument of the op had it already. ``op`` is the
    name of the op. ``module`` is the dotted name of the module that ran, or whose forward made the node. ``backward``
    is the node that ran, or "".
    """

    kind: str
    how: str
    op: str
    module: str | None = None
    backward: str = ""
    lines: Lines | None = None
    forward: Line | None = None  # in backward: the forward line whose gradient is computed
    inside: str = ""  # the op inside a composite one
    details: list[tuple[str, str]] = field(default_factory=list)

    def headline(self) -> str:
        where = f" in module '{self.module}'" if self.module else " in the model itself" if self.module == "" else ""
        phase = f"backward, {self.backward}{where}" if self.backward else f"forward{where}"
        inside = f" (inside it by {self.inside})" if self.inside else ""
        by = f"{self.how} {'by' if self.how == 'made' else 'to'} {self.op}{inside}" if self.op else self.how
        return f"first {self.kind}: {by}, {phase}" if self.op else f"first {self.kind}: {by}"


@dataclass
class _Call:
    """An op that runs."""

    op: str
    kind: str  # of the arguments; "" if all were finite
    culprit: str  # the argument that contained the value
    texts: list[tuple[str, str]]
    arguments: tuple


class find_nan(Report, Observer):
    """Watch every op of a block, forward and backward, and record the first op that makes a NaN or an infinity.

    An op makes a NaN if its result, or an argument that it writes to, contains one and none of its arguments did; the
    rule for infinities is equal. So a mask of ``-inf`` that the program itself creates is not reported. A NaN that
    existed before the block is reported as "came in". Views, uninitialized memory and tensors on meta are not checked.
    Threads that start in the block are watched, too.

    Args:
        model: a module of reftorch or of PyTorch. The report then uses the dotted names of its modules, and its
            parameters are checked before the block runs. Without ``model``, the report uses the names of classes.
        inf: whether infinities are reported too. If False, the report of a NaN names the infinity that caused it.
        stop: raise :class:`NonFinite` at the op, so that a debugger can stop there.

    Attributes:
        first: the finding, or None.
        looked_at: the number of ops whose results were looked at.

    Raises:
        NonFinite: (with ``stop``) from the op.
        RuntimeError: a profiler, or another block of this kind, is running.

    Example:
        >>> from reftorch.debug import find_nan
        >>> x = torch.tensor([4.0, -1.0], requires_grad=True)
        >>> with find_nan() as found:
        ...     y = x.sqrt().sum()
        >>> found.first.op, found.first.kind
        ('aten::sqrt', 'NaN')
        >>> with find_nan() as found:
        ...     torch.zeros(1, requires_grad=True).sqrt().backward()
        >>> found.first.op, found.first.backward
        ('aten::true_divide.Tensor', 'SqrtBackward0')

    Mirrors torch/autograd/anomaly_mode.py, ``detect_anomaly``, for backward.
    """

    def __init__(self, model: Any = None, *, inf: bool = True, stop: bool = False) -> None:
        if model is not None:
            expect_module("find_nan", model)
        self.model = model
        self.first: NonFiniteOp | None = None
        self._inf, self._stop = inf, stop
        self.looked_at = 0
        self._on_meta = 0  # ops whose results have no values
        self._names: dict[int, str] = {}
        self._threads = ThreadLocal()
        self._hooks: list[Any] = []
        self._first_inf = ""

    def __enter__(self) -> find_nan:
        if self.model is not None:
            self._names = {id(module): name for name, module in self.model.named_modules()}
            self._look_at_state()
        self.observe()
        for library in libraries():
            hooks = library.nn.modules.module
            self._hooks += [
                hooks.register_module_forward_pre_hook(lambda module, args: self._modules().append(module)),
                hooks.register_module_forward_hook(self._leave, always_call=True),
            ]
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.look_away()
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()
        self._modules().clear()

    def _modules(self) -> list[Any]:
        """Return the modules that run in this thread, the innermost last."""
        if not hasattr(self._threads, "modules"):
            self._threads.modules = []
        modules: list[Any] = self._threads.modules
        return modules

    def _leave(self, module: Any, args: tuple, output: Any) -> None:
        modules = self._modules()
        while modules and modules.pop() is not module:
            pass

    def _look_at_state(self) -> None:
        tensors = dict(self.model.named_parameters())
        tensors.update({f"{name}.grad": p.grad for name, p in tensors.items() if p.grad is not None})
        tensors.update(self.model.named_buffers())
        for name, tensor in tensors.items():
            kind = kind_of(tensor)
            if kind == "NaN" or (kind and self._inf):
                self._found(
                    NonFiniteOp(kind, f"it was there before, in '{name}'", "", details=[(name, told(tensor, kind))])
                )
                return

    # The arguments and the results of an op

    def _calls(self) -> list[_Call]:
        if not hasattr(self._threads, "calls"):
            self._threads.calls, self._threads.inside = [], ""
        return self._threads.calls

    def start(self, op: str, arguments: tuple) -> None:
        if self.first is not None:
            return
        info, calls = op_info(op), self._calls()
        kind = culprit = ""
        texts = []
        for position, value in enumerate(arguments):
            name = info.arguments[position]
            found = "" if position in info.overwritten else kind_of(value)
            if found and kind != "NaN":
                kind, culprit = found, name
            if not calls:
                texts += [(path, told(tensor, found)) for path, tensor in flatten(value, name)]
                texts += [(name, repr(value))] if isinstance(value, (int, float)) else []
        if not calls:
            self._threads.inside = ""
        calls.append(_Call(op, kind, culprit, texts, arguments))

    def end(self, op: str, results: tuple | None) -> None:
        calls = self._calls()
        if not calls:
            return
        call = calls.pop()
        if self.first is not None or results is None:
            return
        origin = (self._module(), calling_lines(sys._getframe(1)))
        for _, tensor in flatten(results, ""):
            if tensor.grad_fn is not None and ORIGIN not in tensor.grad_fn.metadata:
                tensor.grad_fn.metadata[ORIGIN] = origin
        info = op_info(op)
        if info.is_view or info.is_uninitialized:
            return
        # An op that writes to a list of tensors, such as the fused step of an optimizer, returns nothing.
        written = [(info.arguments[i], call.arguments[i]) for i in sorted(info.written) if i < len(call.arguments)]
        tensors = [tensor for _, tensor in flatten((results, written), "")]
        self.looked_at += any(not why_no_values(tensor) for tensor in tensors)
        self._on_meta += bool(tensors) and all(why_no_values(tensor) for tensor in tensors)
        kind = kind_of((results, [value for _, value in written]))
        if not kind and call.kind != "NaN":
            return
        made = kind and (not call.kind or (kind == "NaN" and call.kind == "Inf"))
        if calls:
            if made and not self._threads.inside:
                self._threads.inside = op
            return
        if made and kind == "Inf" and not self._inf:
            self._first_inf = self._first_inf or f"{op} at {origin[1].user or origin[1].inner}"
        elif made:
            self._report(call, kind, "made", results, written, *origin)
        elif call.kind == "NaN":
            self._report(call, "NaN", "came in", results, written, *origin)

    def torch_result(self, value: Any) -> None:
        """Note the module and the line in each node of PyTorch that the function has made."""
        origin: Any = None
        nodes = [tensor.grad_fn for _, tensor in flatten(value, "") if tensor.grad_fn is not None]
        while nodes:
            node = nodes.pop()
            if ORIGIN not in node.metadata:
                origin = origin or (self._module(), calling_lines(sys._getframe(1)))
                node.metadata[ORIGIN] = origin
                nodes += [child for child, _ in node.next_functions if child is not None]

    def _module(self) -> str | None:
        if not self._modules():
            return None
        module = self._modules()[-1]
        return self._names.get(id(module), type(module).__name__)

    def _report(
        self, call: _Call, kind: str, how: str, results: tuple, written: list, module: str | None, lines: Lines
    ) -> None:
        finding = NonFiniteOp(kind, how, str(call.op), module, lines=lines)
        node = next(filter(None, (library._C._current_autograd_node() for library in libraries())), None)
        if node is not None:
            finding.backward = self._node_name(node)
            finding.module, forward = node.metadata.get(ORIGIN, (None, None))
            finding.forward = forward and (forward.user or forward.inner)
        if how == "made":
            finding.inside = self._threads.inside if self._threads.inside != call.op else ""
        finding.details = list(call.texts)
        result = results[0] if len(results) == 1 else results
        finding.details += [(path, told(tensor, kind)) for path, tensor in flatten(result, "result")]
        returned = {id(tensor) for _, tensor in flatten(results, "")}
        changed = [pair for name, value in written for pair in flatten(value, f"{name}, written")]
        finding.details += [(path, told(tensor, kind)) for path, tensor in changed if id(tensor) not in returned]
        if how == "came in":
            finding.details.append(("it came as", f"argument {call.culprit}"))
        if self._first_inf:
            finding.details.append(("the first Inf", f"was made by {self._first_inf}"))
        self._found(finding)
        if self._stop:
            raise NonFinite(str(self))

    def _node_name(self, node: Any) -> str:
        variable, name = getattr(node, "variable", None), node.name().rpartition("::")[2]
        if variable is not None and self.model is not None:
            for path, parameter in self.model.named_parameters():
                if parameter is variable:
                    return f"{name} of {path}"
        return name

    def _found(self, finding: NonFiniteOp) -> None:
        if self.first is None:
            self.first = finding

    def tables(self) -> list[Table]:
        finding = self.first
        if finding is None:
            return [Table([], [], self._nothing())]
        rows: list[tuple[str, str]] = []
        if finding.forward is not None:
            rows.append(("forward called at", str(finding.forward)))
        if finding.lines is not None:
            inner, user = finding.lines
            if inner != user:
                rows.append(("formula" if finding.backward else "in the library", str(inner)))
            if user is not None:
                rows.append(("backward called at" if finding.backward else "called at", str(user)))
        return [Table(["", ""], rows + finding.details, finding.headline())]

    def _nothing(self) -> str:
        """Return what to say without a finding: that none was made, or that there was nothing to look at."""
        if self.looked_at or self._on_meta:
            made = "no NaN and no Inf was made" if self._inf else "no NaN was made"
            meta = f"{counted(self._on_meta, 'op')} on meta, where tensors have no values"
            return (
                f"nothing was looked at: {meta}" if not self.looked_at else made + (f"; {meta}" * bool(self._on_meta))
            )
        return "nothing was looked at: no op ran that makes or changes a tensor"


def kind_of(value: Any) -> str:
    """Return "NaN", "Inf" or "": the first that a tensor or a number of a value contains."""
    if isinstance(value, float):
        return "NaN" if value != value else "Inf" if value in (float("inf"), float("-inf")) else ""
    if is_tensor(value):
        return tensor_kind(value)
    kinds = [kind_of(item) for item in value] if isinstance(value, (tuple, list)) else []
    return "NaN" if "NaN" in kinds else "Inf" if "Inf" in kinds else ""


def tensor_kind(tensor: Any) -> str:
    """Return "NaN", "Inf" or "" for one tensor; a tensor that is on meta or lazy has no values, so it has neither."""
    if why_no_values(tensor) or not (tensor.is_floating_point() or tensor.is_complex()):
        return ""
    with library_of(tensor).no_grad():
        tensor = plain(tensor)
        if bool(tensor.isfinite().all()):
            return ""
        return "NaN" if bool(tensor.isnan().any()) else "Inf"


def plain(tensor: Any) -> Any:
    """Return the tensor inside the wrappers of function transforms; a sparse tensor of PyTorch becomes dense."""
    if library_of(tensor) is not ours():
        return tensor.detach().to_dense() if tensor.layout is not library_of(tensor).strided else tensor.detach()
    while (wrapper := _C._functorch._describe(tensor)) is not None:
        tensor = wrapper[-1]
    return tensor.detach()


def told(tensor: Any, kind: str) -> str:
    """Return a short text with shape, dtype and values."""
    if is_lazy(tensor):
        return "not initialized yet"
    text = f"{shape_text(tensor.shape)} {dtype_text(tensor)}"
    if why_no_values(tensor):
        return f"{text}, on meta"
    with library_of(tensor).no_grad():
        return text + _values_told(plain(tensor), kind)


def _values_told(tensor: Any, kind: str) -> str:
    if not tensor.numel():
        return ""
    if tensor.numel() == 1:
        return f", {tensor.item():.6g}"
    bad = ~tensor.isfinite() if kind and not is_integral(tensor) else None
    if bad is None or not bool(bad.any()):
        if not tensor.is_floating_point():
            return ""
        return f", from {float(tensor.min()):.6g} to {float(tensor.max()):.6g}"
    if kind == "NaN":
        bad = tensor.isnan() if bool(tensor.isnan().any()) else bad
    first = list(unravel(int(bad.reshape(-1).int().argmax()), tuple(tensor.shape)))
    return f", {int(bad.sum())} of {tensor.numel()} {kind}, the first at {first}"
