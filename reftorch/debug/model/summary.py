"""A table of a model's modules.

Mirrors: nothing in PyTorch, where people install torchinfo.
Left out: counts of multiplications; memory of activations.
"""

from __future__ import annotations

from typing import Any

from reftorch.autograd.grad_mode import no_grad
from reftorch.debug.common.expect import expect_module
from reftorch.debug.common.table import Report, Table, bytes_text, shape_text
from reftorch.debug.model.record_tensors import level, place, record_tensors


class Summary(Report):
    """The result of :func:`summary`: ``parameters``, ``trainable`` and ``buffers`` count elements."""

    def __init__(self, model: Any, depth: int | None, recorded: record_tensors | None) -> None:
        self.parameters = self.trainable = self.buffers = self.nbytes = 0
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
                    setattr(self, kind, getattr(self, kind) + tensor.numel())
                    self.nbytes += tensor.numel() * tensor.element_size()
                    self.trainable += tensor.numel() if kind == "parameters" and tensor.requires_grad else 0
        return own

    def _row(self, name: str, module: Any, own: dict[str, Any], again: bool, recorded: record_tensors | None) -> tuple:
        label = "  " * level(name) + (name.rpartition(".")[2] if name else "(model)")
        if again:
            held = "(shared, see above)"
        else:
            held = ", ".join(f"{n} {'(shared)' if t is None else shape_text(t.shape)}" for n, t in own.items())
        count = sum(t.numel() for n, t in own.items() if t is not None and n in module._parameters)
        shapes = () if recorded is None else (shapes_of(recorded, name, "input"), shapes_of(recorded, name, "output"))
        return (label, type(module).__name__, *shapes, held, count if own else None)

    def tables(self) -> list[Table]:
        shapes = ["input", "output"] if self._with_shapes else []
        notes = [
            f"{self.parameters:,} parameters, {self.trainable:,} of them trained; "
            f"{self.buffers:,} elements of buffers; {bytes_text(self.nbytes)}"
        ]
        return [Table(["name", "type", *shapes, "holds", "parameters"], self._rows, notes=notes)]


def summary(model: Any, *inputs: Any, depth: int | None = None, **kwargs: Any) -> Summary:
    """A table of a model's modules: names, types, shapes and parameters.

    Args:
        model: a module of reftorch or torch.
        inputs, kwargs: the arguments of the model. The model is called once, in evaluation mode and without a graph, to
            find the shapes of the inputs and outputs of each module. Without them, the table has no columns of shapes.
        depth: the largest depth of shown modules: 0 for the model alone, 1 for its children too; None for all.

    Returns:
        A summary, which a terminal shows as text and a notebook as a table; ``parameters``, ``trainable``, ``buffers``
        and ``nbytes`` are the totals, in which shared tensors count once.

    Example:
        >>> import reftorch as torch
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
    modes = [(module, module.training) for module in model.modules()]
    model.eval()  # the call must not change a running mean
    try:
        with no_grad(), _torch_no_grad(), record_tensors(model) as recorded:
            model(*inputs, **kwargs)
    finally:
        for module, training in modes:
            module.training = training
    return Summary(model, depth, recorded)


def _torch_no_grad() -> Any:
    """Return torch's no_grad, if torch was imported, because the model may be a model of torch."""
    import contextlib
    import sys

    torch = sys.modules.get("torch")
    return contextlib.nullcontext() if torch is None else torch.no_grad()


def shapes_of(recorded: record_tensors, name: str, kind: str) -> str:
    """Return the shapes of the first call; several tensors give several shapes."""
    path = place(name, kind)
    found = [t for key, t in recorded.items() if key == path or key.startswith(f"{path}/")]
    return ", ".join(shape_text(tensor.shape) for tensor in found)
