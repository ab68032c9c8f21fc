"""Where two models part.

Mirrors: nothing in PyTorch: it has no such tool.
"""

import copy
from types import ModuleType

import pytest

import reftorch as torch
from reftorch.debug import compare
from tests.debug.models import nested, numbers


def total(output: torch.Tensor) -> torch.Tensor:
    return output.sum()


def test_a_model_and_its_copy() -> None:
    model = nested()
    found = compare(model, copy.deepcopy(model), numbers(), loss=total)
    assert found.equal and found.first is None and len(found.comparisons) == 3
    assert str(found).count("agree") == 3


def test_state_comes_first_then_activations() -> None:
    model = nested()
    other = copy.deepcopy(model)
    other.b.weight.data[0, 2] += 1
    found = compare(model, other, numbers(), loss=total)
    assert found.first is not None and (found.first.name, found.first.place) == ("b.weight", (0, 2))
    assert found.activations is not None and found.gradients is not None
    assert found.activations.first is not None and found.activations.first.name == "b/output"
    assert found.gradients.first is not None and found.gradients.first.name == "a.act#2/grad_output"


def test_models_of_one_state_that_compute_differently() -> None:
    model = nested()
    other = copy.deepcopy(model)
    other.a.act = torch.nn.ReLU()
    found = compare(model, other, numbers())
    assert found.state.equal and found.gradients is None
    assert found.first is not None and found.first.name == "a.act/output"


def test_gradients_alone_may_part() -> None:
    model = nested()
    other = copy.deepcopy(model)
    other.b.register_full_backward_hook(lambda module, grad_input, grad_output: (grad_input[0] * 2,))
    found = compare(model, other, numbers(), loss=total)
    assert found.state.equal and found.activations is not None and found.activations.equal
    assert found.first is not None and found.first.name == "a.act#2/grad_output"


def test_state_dicts_and_tolerances() -> None:
    a, b = {"w": torch.tensor([1.0, 2.0])}, {"w": torch.tensor([1.0, 2.1])}
    assert not compare(a, b).equal
    assert compare(a, b, rtol=0.1, atol=0.0).equal and compare(a, b, rtol=0.0, atol=0.11).equal


def test_the_models_stay_as_they_were() -> None:
    model = nested()
    model(numbers()).sum().backward()
    grads = [p.grad for p in model.parameters()]
    compare(model, copy.deepcopy(model), numbers(), loss=total)
    assert all(p.grad is grad for p, grad in zip(model.parameters(), grads, strict=True))
    assert not any(m._forward_hooks for m in model.modules())


def test_a_loss_needs_inputs() -> None:
    with pytest.raises(ValueError, match="a loss needs inputs"):
        compare(nested(), nested(), loss=total)


def test_ours_and_torch_s(real_torch: ModuleType) -> None:
    ours, theirs = nested(), nested(real_torch)
    for a, b in ((ours, theirs), (theirs, ours)):
        for x in (numbers(), numbers(real_torch)):
            assert compare(a, b, x, loss=lambda output: output.sum()).equal
    with real_torch.no_grad():
        theirs.a.lin.weight[2, 1] = 7.0
    first = compare(ours, theirs, numbers()).first
    assert first is not None and (first.name, first.place, first.b) == ("a.lin.weight", (2, 1), 7.0)


def test_both_draw_the_same_random_numbers() -> None:
    model = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Linear(100, 1))
    assert compare(model, copy.deepcopy(model), torch.ones(1, 100)).equal


@pytest.mark.parametrize(
    ("a", "b", "gap"),
    [
        (2**62 + 1, 2**62, 1.0),
        (-(2**62) - 1, -(2**62), 1.0),
        (2**63 - 1, -(2**63), 2.0**64),
        (2**53 + 1, 2**53, 1.0),
    ],
)
def test_integers_are_compared_exactly(a: int, b: int, gap: float) -> None:
    found = compare({"x": torch.tensor([0, a])}, {"x": torch.tensor([0, b])})
    assert found.first is not None and (found.first.a, found.first.b, found.first.place) == (a, b, (1,))
    assert found.first.largest == gap and f"worst at [1]: {a} against {b}" in str(found)
    assert compare({"x": torch.tensor([a])}, {"x": torch.tensor([a])}).equal


def test_bools_and_integers_of_other_dtypes() -> None:
    a = torch.tensor([True, False])
    assert compare({"x": a}, {"x": a.to(torch.uint8)}).equal
    assert compare({"x": a}, {"x": ~a}).first.wrong == 2
    assert not compare({"x": torch.tensor([3])}, {"x": torch.tensor([4])}).equal
    assert compare({"x": torch.tensor([3])}, {"x": torch.tensor([4])}, atol=1).equal


def test_numbers_and_containers_of_a_mapping() -> None:
    models = [torch.nn.Linear(2, 1) for _ in range(2)]
    models[1].load_state_dict(models[0].state_dict())
    states = []
    for model, steps in zip(models, (1, 2), strict=True):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.0)
        for _ in range(steps):
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        states.append(optimizer.state_dict())
    assert compare(states[0], states[0]).equal
    assert compare(*states).first.name == "state/0/step"
    assert compare({"epoch": 3}, {"epoch": 4}).first.what == "3 against 4"
    assert compare({"x": torch.ones(1)}, {"x": 1}).first.what == "a tensor [1] against 1"
    assert compare({"x": float("nan")}, {"x": float("nan")}).equal


def test_an_op_in_place_in_the_first_model_does_not_change_the_input_of_the_second() -> None:
    model, x = torch.nn.Sequential(torch.nn.ReLU(inplace=True), torch.nn.Linear(2, 2)), torch.tensor([[-1.0, 1.0]])
    found = compare(model, model, x)
    assert found.equal and found.activations.rows[0].name == "input" and x.tolist() == [[-1.0, 1.0]]
