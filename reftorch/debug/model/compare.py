"""A comparison of two models: their states, the results of their modules, and their gradients.

Mirrors: nothing in PyTorch, where people compare two state dicts by hand.
Left out: models whose modules have different names; for these, use record_tensors and diff with a mapping of names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from reftorch.debug.common.expect import described, expect_module, expect_number
from reftorch.debug.common.flatten import flatten
from reftorch.debug.common.library import is_tensor, library_of
from reftorch.debug.common.table import Report, Table, dtype_text
from reftorch.debug.common.untouched import own_copy, untouched
from reftorch.debug.model.comparison import Comparison, Difference
from reftorch.debug.model.record_tensors import record_tensors
from reftorch.utils._pytree import tree_map


class ModelComparison(Report):
    """The result of :func:`compare`: ``state``, ``activations`` and ``gradients`` are each a comparison or None."""

    def __init__(self, state: Comparison, activations: Comparison | None, gradients: Comparison | None) -> None:
        self.state, self.activations, self.gradients = state, activations, gradients

    @property
    def comparisons(self) -> list[Comparison]:
        """The comparisons that were made."""
        return [one for one in (self.state, self.activations, self.gradients) if one is not None]

    @property
    def equal(self) -> bool:
        """Whether all values were compared, at least one, and none differs."""
        rows = [row for one in self.comparisons for row in one.rows]
        return bool(rows) and all(row.compared and not row.differs for row in rows)

    @property
    def first(self) -> Difference | None:
        """The first difference. The state is compared first, then the activations, then the gradients."""
        return next((one.first for one in self.comparisons if one.differs), None)

    def tables(self) -> list[Table]:
        return [table for one in self.comparisons for table in one.tables()]


def compare(
    a: Any, b: Any, *inputs: Any, rtol: float | None = None, atol: float | None = None, loss: Callable | None = None
) -> ModelComparison:
    """Find the first difference of two models.

    The states are compared by name. With inputs, both models are called, and the inputs and outputs of each module are
    compared in the order of the calls. With a loss, the gradients are compared too. Both models draw equal random
    numbers, so dropout causes no difference between two models of one library. The models, the inputs and the
    generators are left as they were. Integers are compared exactly. Tensors on meta have shapes and no values, so
    models with such tensors are never equal.

    Args:
        a, b: two models, each of reftorch or torch; or two mappings from names to tensors, such as ``state_dict()``.
        inputs: the arguments of both models, with tensors of either library.
        rtol, atol: the allowed difference: ``|a - b| <= atol + rtol * |b|``; None chooses the values by the dtypes.
        loss: a function from a model's output to one number, such as ``lambda output: output.sum()``; backward starts
            there.

    Returns:
        A table; ``equal`` is True if the models do not differ, and ``first`` is the first difference.

    Raises:
        TypeError: an argument is neither a model nor a mapping, or the loss is not a tensor.
        ValueError: there is a loss but no inputs, or the loss is not one number.

    Example:
        >>> import copy
        >>> from reftorch.debug import compare
        >>> one = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
        >>> other = copy.deepcopy(one)
        >>> compare(one, other, torch.ones(1, 2)).equal
        True
        >>> _ = other[0].bias.data.add_(1)
        >>> compare(one, other).first.name
        '0.bias'
    """
    state = Comparison(state_of(a), state_of(b), rtol, atol, "state")
    if not inputs:
        if loss is not None:
            raise ValueError("compare: a loss needs inputs. Hint: compare(a, b, x, loss=...).")
        return ModelComparison(state, None, None)
    for model in (a, b):
        expect_module("compare", model)
    runs = []
    for model in (a, b):
        with untouched(model):  # the second model draws the random numbers that the first one has drawn
            runs.append(run(model, inputs, loss))
    activations = Comparison(runs[0][0], runs[1][0], rtol, atol, "activations")
    gradients = None if loss is None else Comparison(runs[0][1], runs[1][1], rtol, atol, "gradients")
    return ModelComparison(state, activations, gradients)


def state_of(model: Any) -> dict[str, Any]:
    """Return the names and tensors of a model, or of a mapping."""
    if not isinstance(model, Mapping) and not hasattr(model, "state_dict"):
        hint = (
            "two tensors are compare({'x': a}, {'x': b})" if is_tensor(model) else "mappings go from names to tensors"
        )
        raise TypeError(f"compare: expected two models, or two mappings, got {described(model)}. Hint: {hint}.")
    state = model if isinstance(model, Mapping) else model.state_dict()
    return dict(leaves(state))


def leaves(mapping: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the tensors, numbers and texts in a mapping and its containers, by names such as ``state/0/step``."""
    for name, value in mapping.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{path}{name}/")
        elif isinstance(value, (list, tuple)):
            yield from leaves(dict(enumerate(value)), f"{path}{name}/")  # type: ignore[arg-type]
        elif is_tensor(value) or isinstance(value, (bool, int, float, complex, str)):
            yield f"{path}{name}", value


def run(model: Any, inputs: tuple, loss: Callable | None) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """Return the recording of one call, and the gradients: of outputs in the order of backward, then of parameters."""
    library = library_of(model)
    arguments = tree_map(lambda value: moved(value, library), inputs)
    if loss is None:
        with record_tensors(model) as recorded:
            model(*arguments)
        return recorded, {}
    with record_tensors(model, gradients=True) as recorded, library.enable_grad():
        value = loss(model(*arguments))
        expect_number("compare", value)
        value.backward()
    gradients = {name: tensor for name, tensor in recorded.items() if is_gradient(name)}
    for name, parameter in model.named_parameters():
        gradients.update(flatten(parameter.grad, f"{name}.grad"))
    return {name: tensor for name, tensor in recorded.items() if not is_gradient(name)}, gradients


def is_gradient(name: str) -> bool:
    return any(one.partition("#")[0] == "grad_output" for one in name.split("/")[:2])


def moved(value: Any, library: Any) -> Any:
    """Return a copy of a tensor in the library of the model, which may write to the copy."""
    if not is_tensor(value):
        return value
    if library_of(value) is library:
        return own_copy(value)
    theirs, dtype = library_of(value), dtype_text(value)
    if value.device.type == "meta":
        return library.empty(tuple(value.shape), dtype=getattr(library, dtype), device="meta")
    numbers = value.detach().cpu()
    # numpy has no bfloat16; float32 holds all its values
    numbers = numbers.float() if numbers.dtype is theirs.bfloat16 else numbers
    tensor = library.from_numpy(numbers.numpy().copy()).to(getattr(library, dtype))
    return tensor.requires_grad_(value.requires_grad)
