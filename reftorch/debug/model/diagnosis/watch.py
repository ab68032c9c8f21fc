"""A look at every op of a forward pass, with the module and the line that called the op.

Mirrors: torch/utils/_python_dispatch.py
Left out: ops of the backward pass.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from reftorch._thread_local import ThreadLocal
from reftorch.debug.common.library import is_tensor
from reftorch.debug.common.ops import Observer, calling_lines


@dataclass
class OpCall:
    """An op that has just run. ``inside`` counts the composite ops around it; the line can be asked for only now."""

    name: str  # in full, such as "aten::relu_"
    arguments: tuple
    results: tuple
    module: str | None  # the dotted name; None outside the model
    inside: int
    frame: FrameType

    @property
    def op(self) -> str:
        """The name without namespace and overload, such as "relu_"."""
        return self.name.rpartition("::")[2].partition(".")[0]

    @property
    def is_called_by_user(self) -> bool:
        """Whether the line that called the op is not the library's."""
        lines = calling_lines(self.frame)
        return lines.inner == lines.user

    @property
    def line(self) -> str:
        """The file, the number and the text of the innermost line that is not the library's."""
        lines = calling_lines(self.frame)
        return str(lines.user or lines.inner)

    @property
    def where(self) -> str:
        """The module and the line, for a reader."""
        inside = {None: "outside the model", "": "in the model itself"}.get(self.module, f"in module '{self.module}'")
        return f"{self.line}  ({inside})"

    @property
    def tensors(self) -> list[Any]:
        """The tensors among the arguments."""
        return [value for value in self.arguments if is_tensor(value)]

    @property
    def result(self) -> Any:
        """The first tensor of the results, or None."""
        return next((value for value in self.results if is_tensor(value)), None)


class OpWatch(Observer):
    """Call ``visit`` with each op that a block runs; ``model`` names the modules.

    Raises:
        RuntimeError: (on entering) find_nan, a profiler or another block of this kind is running.
    """

    def __init__(self, model: Any, visit: Callable[[OpCall], None]) -> None:
        self._model, self._visit = model, visit
        self._threads = ThreadLocal()
        self._handles: list[Any] = []

    def __enter__(self) -> OpWatch:
        for name, module in self._model.named_modules():
            enter = module.register_forward_pre_hook(lambda module, args, name=name: self._modules().append(name))
            leave = module.register_forward_hook(lambda *args: self._leave(), always_call=True)
            self._handles += [enter, leave]
        self.observe()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.look_away()
        for handle in self._handles:
            handle.remove()

    def _of_thread(self, what: str) -> list[Any]:
        """Return a list that each thread has for itself."""
        found: list[Any] = self._threads.__dict__.setdefault(what, [])
        return found

    def _modules(self) -> list[str]:
        return self._of_thread("modules")

    def _leave(self) -> None:
        if self._modules():
            self._modules().pop()

    def start(self, op: str, arguments: tuple) -> None:
        self._of_thread("ops").append((op, arguments))

    def end(self, op: str, results: tuple | None) -> None:
        running = self._of_thread("ops")
        if not running:
            return
        name, arguments = running.pop()
        if results is not None:
            module = self._modules()[-1] if self._modules() else None
            self._visit(OpCall(name, arguments, results, module, len(running), sys._getframe(1)))
