"""A recording holds what went into each module and what came out, under names that one finds again.

Mirrors: nothing in PyTorch: it has no such tool.
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch as torch
from reftorch.debug import record_tensors
from tests.debug.models import nested, numbers

FORWARD = [
    "input", "a/input/0", "a/input/scale", "a.lin/input", "a.lin/output", "a.act/input", "a.act/output",
    "a.act#2/input", "a.act#2/output", "a/output/y", "a/output/parts/0", "a/output/parts/1/0", "b/input", "b/output",
    "output",
]  # fmt: skip


def recorded(model: Any, *inputs: Any, **options: Any) -> record_tensors:
    with record_tensors(model, **options) as run:
        model(*inputs)
    return run


def test_names_come_in_the_order_of_events() -> None:
    model, x = nested(), numbers()
    run = recorded(model, x)
    assert list(run) == FORWARD
    assert run["a.act/output"].equal(model.a.lin(x).tanh())
    assert run["a.act#2/output"].equal((model.a.lin(x).tanh() * 2).tanh())
    assert run["output"].equal(model(x)) and "b/output" in run and "c/output" not in run
    assert str(run).splitlines()[0] == "15 tensors in 6 calls of 5 modules"


def test_depth() -> None:
    assert list(recorded(nested(), numbers(), depth=0)) == ["input", "output"]
    names = list(recorded(nested(), numbers(), depth=1))
    assert names == [name for name in FORWARD if not name.startswith("a.")]


def test_copies_are_as_the_values_were() -> None:
    model = torch.nn.Sequential(torch.nn.Identity(), torch.nn.ReLU(inplace=True))
    x = torch.tensor([-1.0, 1.0])
    run = recorded(model, x)
    assert run["0/output"].tolist() == [-1.0, 1.0] and run["1/output"].tolist() == [0.0, 1.0]
    assert not any(tensor.requires_grad for tensor in recorded(nested(), numbers()).values())


def test_kept_tensors_are_the_very_ones() -> None:
    model, x = nested(), numbers()
    with record_tensors(model, detach=False) as run:
        y = model(x)
    assert run["output"] is y and run["input"] is x and run["a.lin/output"].grad_fn is not None


def test_device() -> None:
    assert recorded(nested(), numbers(), device="cpu")["output"].device == torch.device("cpu")


def test_gradients() -> None:
    model = nested()
    with record_tensors(model, gradients=True) as run:
        model(numbers()).sum().backward()
    names = list(run)[len(FORWARD) :]
    assert names[:3] == ["b/grad_output", "grad_output", "a.act#2/grad_output"] and "a.lin/grad_output" in names
    assert run["a.act#2/grad_output"].allclose(model.b.weight.expand(2, 3))


def test_nothing_stays_behind() -> None:
    model = nested()
    recorded(model, numbers())
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_an_error_in_forward_leaves_names_right() -> None:
    model = nested()
    with record_tensors(model) as run:
        with pytest.raises(RuntimeError):
            model(torch.ones(2, 7))
        model(numbers())
    assert list(run)[:4] == ["input", "a/input/0", "a/input/scale", "a.lin/input"]
    assert run["output#2"].shape == (2, 1) and run["a.lin#2/output"].shape == (2, 3)


def test_a_wrong_name_gets_the_nearest() -> None:
    with pytest.raises(KeyError, match=r"nothing was recorded as 'b/outputs'.*nearest names are \['b/output'"):
        recorded(nested(), numbers())["b/outputs"]


def test_it_records_once_at_a_time() -> None:
    run = record_tensors(nested())
    with run, pytest.raises(RuntimeError, match="records already"):
        run.__enter__()


def test_the_difference_of_two_runs() -> None:
    model = nested()
    before = recorded(model, numbers())
    assert before.diff(recorded(model, numbers())).equal
    model.b.bias.data[0] += 1
    different = before.diff(recorded(model, numbers()))
    assert different.first is not None and different.first.name == "b/output"
    assert [row.name for row in different.rows if row.differs] == ["b/output", "output"]
    assert different.first.wrong == 2 and abs(different.first.largest - 1) < 1e-6
    assert "first difference at b/output: 2 of 2 differ; worst at [" in str(different)


def test_the_difference_of_shapes_and_names() -> None:
    one, other = {"x": torch.ones(2), "y": torch.ones(1)}, {"x": torch.ones(3), "z": torch.ones(1)}
    said = {row.name: row.what for row in recorded_as(one).diff(other).rows}
    assert said == {"x": "shape [2] against [3]", "y": "only in the first", "z": "only in the second"}


def recorded_as(tensors: dict[str, torch.Tensor]) -> record_tensors:
    run = record_tensors(torch.nn.Identity())
    run._tensors.update(tensors)
    return run


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        ([1.0, float("nan"), float("inf")], [1.0, float("nan"), float("inf")], True),
        ([1.0], [1.00001], True),
        ([1.0], [1.001], False),
        ([float("nan")], [1.0], False),
        ([float("inf")], [float("-inf")], False),
        ([float("inf")], [3.0], False),
    ],
)
def test_close_numbers_agree(a: list[float], b: list[float], equal: bool) -> None:
    assert recorded_as({"x": torch.tensor(a)}).diff({"x": torch.tensor(b)}).equal is equal


def test_a_model_of_torch(real_torch: ModuleType) -> None:
    ours, theirs = nested(), nested(real_torch)
    with record_tensors(ours, gradients=True) as run:
        ours(numbers()).sum().backward()
    with record_tensors(theirs, gradients=True) as other:
        theirs(numbers(real_torch)).sum().backward()
    assert run.diff(other).equal and len(run) == len(other) == 22
    with real_torch.no_grad():
        theirs.a.lin.bias[1] += 0.5
    parting = run.diff(recorded(theirs, numbers(real_torch)))
    assert parting.first is not None and parting.first.name == "a.lin/output"
    assert parting.first.place[1] == 1 and parting.first.wrong == 2


def test_an_error_is_told_with_the_module_it_came_from() -> None:
    model = nested()
    model.a.lin = torch.nn.Linear(4, 3)
    with pytest.raises(RuntimeError) as caught, record_tensors(model) as run:
        model(numbers())
    assert list(run) == ["input", "a/input/0", "a/input/scale", "a.lin/input"]
    assert str(run).endswith("\nended by RuntimeError in a.lin (Linear)")
    notes = getattr(caught.value, "__notes__", [])
    assert notes == (["record_tensors: raised in a.lin (Linear)"] if hasattr(caught.value, "add_note") else [])


def test_an_error_that_a_module_catches_ends_nothing() -> None:
    class Catches(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tried = torch.nn.Linear(4, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            try:
                return self.tried(x)
            except RuntimeError:
                return x

    def fails_later() -> None:
        run.model(numbers())
        raise ValueError("of my own")

    with pytest.raises(ValueError, match="of my own") as caught, record_tensors(Catches()) as run:
        fails_later()
    assert not hasattr(caught.value, "__notes__") and "ended by" not in str(run)


def test_two_recordings_may_be_equal() -> None:
    model, x = nested(), numbers()
    one, other = recorded(model, x), recorded(model, x)
    assert one == other and one == dict(other) and one == one
    assert one != recorded(model, x + 1) and one != {"input": x} and one != "a recording"
    model.b.bias.data += 1e-7  # `diff` calls this close
    assert one.diff(recorded(model, x)).equal and one != recorded(model, x)


def test_an_argument_that_a_call_has_changed_is_recorded_again() -> None:
    class Cached(torch.nn.Module):
        def forward(self, x: torch.Tensor, cache: list[torch.Tensor]) -> torch.Tensor:
            cache[1].add_(x)
            return x * 2

    model = Cached()
    run = recorded(model, torch.ones(2), [torch.zeros(2), torch.zeros(2)])
    assert list(run) == ["input/0", "input/1/0", "input/1/1", "output", "written/1/1"]
    assert run["input/1/1"].tolist() == [0.0, 0.0] and run["written/1/1"].tolist() == [1.0, 1.0]
    relu = torch.nn.ReLU(inplace=True)
    assert list(recorded(relu, torch.ones(1))) == ["input", "output"]


def test_integers_have_exact_ends() -> None:
    run = recorded(torch.nn.Identity(), torch.tensor([2**62 + 1, 5]))
    assert f"{2**62 + 1:,}" in str(run)
