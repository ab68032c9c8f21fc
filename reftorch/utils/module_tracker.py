"""Knows which modules are running, in the forward pass and in the backward pass.

Hooks of all modules note when a forward begins and ends. In the backward pass the order is reversed: the backward pass
of a module begins when the gradients of all its outputs are there, and ends when the gradients of all its inputs are.

Mirrors: torch/utils/module_tracker.py
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch._tensor import Tensor
from reftorch.autograd.graph import register_multi_grad_hook
from reftorch.nn.modules.module import Module, register_module_forward_hook, register_module_forward_pre_hook
from reftorch.utils._pytree import tree_leaves

__all__ = ["ModuleTracker"]

logger = logging.getLogger(__name__)


def _recorded(tree: Any) -> list[Tensor]:
    """Return the tensors in a tree that require a gradient."""
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor) and leaf.requires_grad]


class ModuleTracker:
    """Tracks, inside ``with tracker:``, the modules that are running, by their qualified names.

    A name begins with the class of the outermost module, and continues with the attributes: ``"Net.conv1"``. The name
    ``"Global"`` is always among them.

    A module whose inputs require no gradient has no event that ends its backward pass, so its name stays until the end
    of the pass.

    Attributes:
        parents: the set of the names of the modules that are running now.

    Example:
        >>> from reftorch.utils.module_tracker import ModuleTracker
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
        >>> with ModuleTracker() as tracker:
        ...     handle = net[1].register_forward_pre_hook(lambda *args: print(sorted(tracker.parents), tracker.is_bw))
        ...     y = net(torch.ones(1, 2))
        ['Global', 'Sequential', 'Sequential.1'] False

    Mirrors torch/utils/module_tracker.py, ``ModuleTracker``.
    """

    parents: set[str]

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._names: weakref.WeakKeyDictionary[Module, str] = weakref.WeakKeyDictionary()
        self._named: weakref.WeakSet[Module] = weakref.WeakSet()  # the modules whose children have names too
        self._will_reset = False
        self._handles: list[Any] = []

    @property
    def is_bw(self) -> bool:
        """Whether this thread is inside a backward pass."""
        return bool(_C._current_graph_task_id() != -1)

    def _name(self, module: Module) -> str:
        """Return the name of a module, and give all modules below it their names."""
        name: str = self._names.setdefault(module, type(module).__name__)
        if module not in self._named:
            for attribute, child in module.named_children():
                self._names[child] = f"{name}.{attribute}"
                self._name(child)
            self._named.add(module)
        return name

    def _reset_after_backward(self) -> None:
        """Let the end of this backward pass forget the modules whose end was not seen."""
        if self._will_reset:
            return

        def reset() -> None:
            self.parents = {"Global"}
            self._will_reset = False

        _C._queue_callback(reset)
        self._will_reset = True

    def _enter(self, name: str, *, is_bw: bool) -> Callable[..., None]:
        def enter(*_: Any) -> None:
            if is_bw:
                self._reset_after_backward()
            if name in self.parents:
                logger.info("%s is entered again in %s", name, "backward" if is_bw else "forward")
            self.parents.add(name)

        return enter

    def _leave(self, name: str, *, is_bw: bool) -> Callable[..., None]:
        def leave(*_: Any) -> None:
            if name not in self.parents:
                logger.info("%s is left without being entered in %s", name, "backward" if is_bw else "forward")
            self.parents.discard(name)

        return leave

    def _before_forward(self, module: Module, args: Any) -> None:
        name = self._name(module)
        self._enter(name, is_bw=False)()
        if tensors := _recorded(args):
            self._handles.append(register_multi_grad_hook(tensors, self._leave(name, is_bw=True)))

    def _after_forward(self, module: Module, args: Any, output: Any) -> None:
        name = self._name(module)
        self._leave(name, is_bw=False)()
        if tensors := _recorded(output):
            self._handles.append(register_multi_grad_hook(tensors, self._enter(name, is_bw=True)))

    def __enter__(self) -> ModuleTracker:
        self._handles.append(register_module_forward_pre_hook(self._before_forward))
        self._handles.append(register_module_forward_hook(self._after_forward))
        return self

    def __exit__(self, *exc_info: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
