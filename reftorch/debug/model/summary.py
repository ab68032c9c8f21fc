"""A table of a model's modules.

Mirrors: nothing in PyTorch, where people install torchinfo.
Left out: counts of multiplications; memory of activations.
"""

from __future__ import annotations

import copy
from typing import Any

from reftorch.debug.common.expect import expect_module
from reftorch.debug.common.library import is_lazy, library_of
from reftorch.debug.common.table import Report, Table, bytes_text, counted, shape_text
from reftorch.debug.common.untouched import own_copy, untouched
from reftorch.debug.model.record_tensors import level, place, record_tensors
from reftorch.utils._pytree import tree_map


class Summary(Report):
    """The result of :func:`summary`: ``parameters``, ``trainable`` and ``buffers`` count elements."""

    def __init__(self, model: Any, depth: int | None, recorded: record_tensors | None) -> None:
        self.parameters = self.trainable = self.buffers = self.nbytes = 0
        self._lazy, self._on_meta = [], 0  # type: tuple[list[str], int]
        self._with_shapes = recorded is not None
        self._rows: list[tuple] = []
        seen: dict[int, Any] = {}  # by id; an object that is kept alive shares its id with no other
        for name, module in model.named_modules(remove_duplicate=False):
            again = id(module) in seen
            seen[id(module)] = module
            own = {} if again else self._count(module, seen)
            if depth is None or level(name) <= depth:
                self._rows.append(self._row(name, module, own, again, recorded))

    def _count(self, module: Any, seen: dict[int, Any]) -> dict[str, Any]:
        """The module's own parameters and buffers by name; None for a parameter or buffer that was counted already."""
        own: dict[str, Any] = {}
        for kind, tensors in (("parameters", module._parameters), ("buffers", module._buffers)):
            for name, tensor in tensors.items():
                if tensor is None:
                    continue
                own[name] = None if id(tensor) in seen else tensor
                if id(tensor) not in seen:
                    seen[id(tensor)] = tensor
                    if is_lazy(tensor):
                        self._lazy.append(name)
                        continue
                    self._on_meta += tensor.device.type == "meta"
                    setattr(self, kind, getattr(self, kind) + tensor.numel())
                    self.nbytes += tensor.numel() * tensor.element_size()
                    self.trainable += tensor.numel() if kind == "parameters" and tensor.requires_grad else 0
        return own

    def _row(self, name: str, module: Any, own: dict[str, Any], again: bool, recorded: record_tensors | None) -> tuple:
        label = "  " * level(name) + (name.rpartition(".")[2] if name else "(model)")
        if again:
            held = "(shared, see above)"
        else:
            held = ", ".join(f"{n} {shape_of(t)}" for n, t in own.items())
        known = [t for n, t in own.items() if t is not None and n in module._parameters and not is_lazy(t)]
        count = sum(t.numel() for t in known)
        shapes = () if recorded is None else (shapes_of(recorded, name, "input"), shapes_of(recorded, name, "output"))
        unknown = not known and any(t is not None and is_lazy(t) for t in own.values())
        return (label, type(module).__name__, *shapes, held, None if unknown or not own else count)

    def tables(self) -> list[Table]:
        shapes = ["input", "output"] if self._with_shapes else []
        notes = [
            f"{counted(self.parameters, 'parameter')}, {self.trainable:,} of them trained; "
            f"{counted(self.buffers, 'element')} of buffers; {bytes_text(self.nbytes)}"
        ]
        if self._lazy:
            count = counted(len(self._lazy), "tensor")
            notes.append(f"{count} of lazy modules not counted: the first call sets their shapes. Hint: pass inputs.")
        if self._on_meta:
            notes.append(f"{counted(self._on_meta, 'tensor')} on meta: shapes, but no values and no memory")
        return [Table(["name", "type", *shapes, "holds", "parameters"], self._rows, notes=notes)]


def summary(model: Any, *inputs: Any, depth: int | None = None, **kwargs: Any) -> Summary:
    """A table of a model's modules: names, types, shapes and parameters.

    Args:
        model: a module of reftorch or torch.
        inputs, kwargs: the arguments of the model. The model is called once, in evaluation mode and without a graph, to
            find the shapes of the inputs and outputs of each module; afterwards it is as it was, a lazy model is still
            lazy, and so are the random numbers. Without inputs, the table has no columns of shapes.
        depth: the largest depth of shown modules: 0 for the model alone, 1 for its children too; None for all.

    Returns:
        A summary, which a terminal shows as text and a notebook as a table; ``parameters``, ``trainable``, ``buffers``
        and ``nbytes`` are the totals, in which shared tensors count once.

    Example:
        >>> from reftorch.debug import summary
        >>> summary(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()), torch.ones(5, 2))
        name     type        input   output  holds                    parameters
        -------  ----------  ------  ------  -----------------------  ----------
        (model)  Sequential  [5, 2]  [5, 3]
          0      Linear      [5, 2]  [5, 3]  weight [3, 2], bias [3]           9
          1      ReLU        [5, 3]  [5, 3]
        9 parameters, 9 of them trained; 0 elements of buffers; 36 B
    """
    expect_module("summary", model)
    if not inputs and not kwargs:
        return Summary(model, depth, None)
    if any(is_lazy(tensor) for tensor in [*model.parameters(), *model.buffers()]):
        model = copy.deepcopy(model)  # the call initializes it for good
    inputs, kwargs = tree_map(own_copy, (inputs, kwargs))
    with untouched(model), library_of(model).no_grad(), record_tensors(model) as recorded:
        model.eval()
        model(*inputs, **kwargs)
    return Summary(model, depth, recorded)


def shape_of(tensor: Any) -> str:
    """Return the shape of a parameter or a buffer of a module; None if it was shown before."""
    if tensor is None:
        return "(shared)"
    return "(not initialized)" if is_lazy(tensor) else shape_text(tensor.shape)


def shapes_of(recorded: record_tensors, name: str, kind: str) -> str:
    """Return the shapes of the first call; several tensors give several shapes."""
    path = place(name, kind)
    found = [t for key, t in recorded.items() if key == path or key.startswith(f"{path}/")]
    return ", ".join(shape_text(tensor.shape) for tensor in found)
