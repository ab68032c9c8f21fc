"""The tools for models keep one contract, Note [Observer contract]: they change nothing, and say nothing unmeasured.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.debug import (
    check_gradients,
    compare,
    diagnose,
    draw_activations,
    draw_storage,
    find_nan,
    find_wrong_gradient,
    memory_by_line,
    memory_snapshot,
    record_tensors,
    summary,
)
from reftorch.debug.common.untouched import untouched


def squares(model: Any, x: Any) -> Any:
    return diagnose(model, x, lambda output, target: ((output - target) ** 2).mean(), steps=1)


def watched(tool: Callable, *options: Any) -> Callable:
    def call(model: Any, x: Any) -> Any:
        with tool(*[model] * len(options)) as found:
            model(x)
        return found

    return call


CALLS: dict[str, Callable[[Any, Any], Any]] = {  # tools that call the model themselves
    "summary": summary,
    "check_gradients": check_gradients,
    "find_wrong_gradient": find_wrong_gradient,
    "draw_activations": draw_activations,
    "compare": lambda model, x: compare(model, model, x),
    "compare with a loss": lambda model, x: compare(model, model, x, loss=lambda output: output.sum()),
    "diagnose": lambda model, x: squares(model, (x, torch.ones(4, 3))),
}


class Restless(nn.Module):
    """A model that changes in each call: a generator, buffers, attributes, its input, and a normalization."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("last", None)
        self.norm, self.linear, self.count = nn.BatchNorm1d(3), nn.Linear(3, 3), 0
        self.log: list[Any] = []
        self.cache: dict[int, Any] = {}
        self.recent: deque[int] = deque(maxlen=2)
        self.state = torch.zeros(4, 3)

    def forward(self, x: Any) -> Any:
        x.add_(1)
        self.calls += 1
        self.last = x.detach() * 2
        self.count += 1
        self.log.append(x)
        self.cache[self.count] = x
        self.recent.append(self.count)
        self.state.add_(1)
        random.random()
        return self.linear(self.norm(x)).relu() + torch.rand(3)


def everything(model: Restless) -> list[Any]:
    tensors = [t.tolist() for t in (*model.parameters(), *model.buffers(), model.state)]
    grads = [p.grad.tolist() for p in model.parameters()]
    attributes = [model.count, list(model.log), dict(model.cache), list(model.recent), model.last, model.training]
    versions = [t._version for t in (*model.parameters(), *model.buffers(), model.state)]
    return [tensors, grads, attributes, versions, torch.get_rng_state().tolist(), random.getstate()]


@pytest.mark.parametrize("tool", CALLS.values(), ids=CALLS)
def test_a_tool_that_calls_the_model_changes_nothing(tool: Callable) -> None:
    torch.manual_seed(0)
    model, x = Restless(), torch.randn(4, 3)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    model.norm.eval()
    before, given = everything(model), x.tolist()
    loss = (model.linear(torch.ones(1, 3)) ** 2).sum()  # a graph that saved the weight
    tool(model, x)
    assert everything(model) == before and x.tolist() == given and model.training and not model.norm.training
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    loss.backward()  # no saved tensor counts as changed


def test_an_error_of_the_model_leaves_it_as_it_was() -> None:
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(4, 4))
    with pytest.raises(RuntimeError):
        summary(model, torch.ones(2, 3))
    with pytest.raises(RuntimeError), untouched(model):
        model(torch.ones(2, 3))
    assert model[0].running_mean.tolist() == [0.0, 0.0, 0.0] and model.training


def test_a_tensor_that_the_block_replaces_is_given_back() -> None:
    model = nn.Linear(1, 1).requires_grad_(False)
    weight, value = model.weight, model.weight.item()
    with untouched(model):
        model.double()
        model.weight.requires_grad_(True)
        model.weight = nn.Parameter(torch.zeros(2))
    assert model.weight is weight and weight.item() == value
    assert weight.dtype is torch.float32 and not weight.requires_grad


WITHOUT_VALUES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "lazy": lambda: (nn.Sequential(nn.LazyLinear(3), nn.ReLU()), torch.ones(4, 2)),
    "meta": lambda: (nn.Sequential(nn.Linear(2, 3, device="meta"), nn.ReLU()), torch.ones(4, 2, device="meta")),
}


@pytest.mark.parametrize("make", WITHOUT_VALUES.values(), ids=WITHOUT_VALUES)
@pytest.mark.parametrize("tool", ["check_gradients", "find_wrong_gradient", "draw_activations", "diagnose"])
def test_a_tool_that_needs_values_says_so_in_one_sentence(tool: str, make: Callable) -> None:
    with pytest.raises(ValueError, match=rf"^{tool}: the parameter '0\.weight' is [^\n]*\. Hint: [^\n]*$"):
        CALLS[tool](*make())
    if tool == "check_gradients":
        with pytest.raises(ValueError, match=r"^check_gradients: the parameter '0\.weight' is "):
            check_gradients(make()[0])


def test_an_input_on_meta_is_refused_as_well() -> None:
    with pytest.raises(ValueError, match=r"^check_gradients: an argument is on meta"):
        check_gradients(nn.ReLU(), torch.ones(2, device="meta"))


@pytest.mark.parametrize("make", WITHOUT_VALUES.values(), ids=WITHOUT_VALUES)
def test_a_tool_that_needs_no_values_shows_shapes(make: Callable) -> None:
    assert "[4, 2]" in str(summary(*make())) and "[4, 3]" in str(summary(*make()))
    model, x = make()
    with record_tensors(model) as run:
        model(x)
    assert run["output"].shape == (4, 3) and "[4, 3]" in str(run)
    for tool in (watched(find_nan, 1), watched(memory_by_line)):
        str(tool(*make()))
    model, _ = make()
    str(memory_snapshot())
    assert "storage" in repr(draw_storage(*model.parameters()))


def test_summary_leaves_a_lazy_model_lazy() -> None:
    model, x = WITHOUT_VALUES["lazy"]()
    assert summary(model, x).parameters == 9
    assert nn.parameter.is_lazy(model[0].weight)
    found = summary(model)
    assert found.parameters == 0 and "weight (not initialized)" in str(found)
    assert "2 tensors of lazy modules not counted" in str(found)


def test_models_without_values_are_not_equal() -> None:
    for make in WITHOUT_VALUES.values():
        (one, _), (other, _) = make(), make()
        found = compare(one, other)
        assert not found.equal and found.first is None
        assert str(found).startswith("state: nothing was compared; 2 of 2 could not be compared")
    meta, x = WITHOUT_VALUES["meta"]()
    other = nn.Sequential(nn.Linear(2, 4, device="meta"), nn.ReLU())
    assert compare(meta, other).first.what == "shape [3, 2] against [4, 2]"
    assert "could not be compared" in str(compare(meta, meta, x).activations)
    values = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    assert "could not be compared" in str(compare(values, meta))


def test_nothing_is_all_right_of_nothing() -> None:
    relu, x = nn.ReLU(), torch.ones(2)
    check = check_gradients(relu, x)
    assert not check.ok and str(check) == "gradients: nothing was checked, because the model has no parameters"
    frozen = nn.Linear(2, 2).requires_grad_(False)
    assert "nothing was checked, because no parameter is trained" in str(check_gradients(frozen, x))
    assert (
        str(compare({}, {})) == "state: nothing was compared, because there is no tensor" and not compare({}, {}).equal
    )
    assert compare(relu, relu, x).equal and not compare(relu, relu).equal
    with record_tensors(relu) as run:
        pass
    assert str(run) == "nothing was recorded: no module of the model was called in the block"
    idle = nn.ModuleDict({"a": relu})
    idle.forward = lambda x: x  # type: ignore[method-assign]
    assert str(find_wrong_gradient(idle, torch.ones(2, dtype=torch.long))).splitlines()[0] == (
        "gradients of modules: nothing was measured"
    )
    program = nn.Linear(3, 3), (x.expand(4, 3) if x.shape == (3,) else torch.ones(4, 3), torch.ones(4, 3))
    names = list(diagnose(*program, nn.functional.mse_loss, steps=1).checks)
    found = diagnose(*program, nn.functional.mse_loss, skip=names)
    assert not found.ok and str(found).startswith("diagnosis: no check ran")


def test_diagnose_refuses_a_batch_of_nothing() -> None:
    model, loss = nn.Linear(3, 3), nn.functional.mse_loss
    with pytest.raises(ValueError, match=r"^diagnose: the batch has no samples"):
        diagnose(model, (torch.ones(0, 3), torch.ones(0, 3)), loss)
    with pytest.raises(ValueError, match=r"^diagnose: expected at least one step"):
        diagnose(model, (torch.ones(4, 3), torch.ones(4, 3)), loss, steps=0)


def test_reports_count_in_good_english() -> None:
    model = nn.BatchNorm1d(1, affine=False, track_running_stats=False)
    model.register_buffer("one", torch.zeros(1))
    assert "0 parameters, 0 of them trained; 1 element of buffers" in str(summary(model))
    with record_tensors(nn.Identity()) as run:
        run.model(torch.ones(1))
    assert str(run).splitlines()[0] == "2 tensors in 1 call of 1 module"
    layer = nn.Linear(1, 1, bias=False)
    layer.weight.grad = torch.zeros(1, 1)
    assert str(check_gradients(layer)).splitlines()[0] == "gradients: 1 of 1 parameter has a problem"
