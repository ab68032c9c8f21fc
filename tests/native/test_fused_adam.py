"""The fused steps of Adam and AdamW: the rows of the op table, and calls that no row makes.

Mirrors: test/optim/test_optim.py
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.op_db.suite import OpResultTests

OPTIONS: dict[str, Any] = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1, "eps": 1e-8}
OPTIONS |= {"amsgrad": False, "maximize": False}


class TestFusedAdam(OpResultTests):
    FAMILIES = "fused_adam"


def lists(lib: ModuleType, shape: tuple[int, ...] = (2, 3), **changed: Any) -> list[list[Any]]:
    """Params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps."""
    made: dict[str, Any] = {name: [lib.ones(shape)] for name in ("params", "grads", "exp_avgs", "exp_avg_sqs")}
    return list({**made, "largest": [], "steps": [lib.ones(())], **changed}.values())


def test_layouts_that_differ() -> None:
    """Each element goes with the elements of its own place, wherever they lie; torch's kernel mixes them up."""
    grad = reftorch.arange(6.0).reshape(3, 2).t()
    spread = reftorch.ones(2, 6)[:, ::2]
    other = lists(reftorch, params=[spread], grads=[grad])
    plain = lists(reftorch, grads=[grad.contiguous()])
    for given in (other, plain):
        reftorch._fused_adam_(*given, **OPTIONS)
    for a, b in zip(other[0] + other[2] + other[3], plain[0] + plain[2] + plain[3], strict=True):
        assert a.tolist() == b.tolist()
    assert grad.tolist() == [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]


def test_versions_count_and_nothing_is_recorded() -> None:
    given = lists(reftorch)
    with reftorch.no_grad():
        reftorch._fused_adamw_(*given, **OPTIONS)
    assert [given[k][0]._version for k in (0, 2, 3)] == [1, 1, 1]
    assert given[0][0].grad_fn is None


def test_meta_tensors_stay_as_they_are() -> None:
    with reftorch.device("meta"):
        given = lists(reftorch)
    reftorch._fused_adam_(*given, **OPTIONS)
    assert given[0][0].is_meta


ERRORS: dict[str, Any] = {
    "no state": {"exp_avgs": []},
    "two gradients": {"grads": lambda lib: [lib.ones(2, 3)] * 2},
    "integers": {name: lambda lib: [lib.ones(2, 3, dtype=lib.int64)] for name in ("params", "grads", "exp_avgs")},
    "dtypes": {"grads": lambda lib: [lib.ones(2, 3, dtype=lib.float64)]},
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_have_the_types_of_torch(real_torch: ModuleType, case: str) -> None:
    def raised(lib: ModuleType) -> type:
        changed = {name: value(lib) if callable(value) else value for name, value in ERRORS[case].items()}
        with pytest.raises(RuntimeError) as caught:
            lib._fused_adam_(*lists(lib, **changed), **OPTIONS)
        return caught.type

    assert raised(reftorch) is asked(real_torch, raised)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"grads": [reftorch.ones(3)]}, r"parameter 0 has shape \[2, 3\], but its gradient or state has shape \[3\]"),
        ({"exp_avgs": []}, "expected 1 tensors in list 2, because there are 1 parameters, but got 0"),
        ({"steps": [reftorch.ones(2)]}, "a step must have one element, but got 2"),
        ({"steps": []}, "expected 1 state_steps, but got 0"),
        ({"exp_avg_sqs": [reftorch.ones(2, 3, dtype=reftorch.float64)]}, "expected scalar type Float but found Double"),
    ],
)
def test_wrong_lists_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(RuntimeError, match=f"_fused_adam_: {message}"):
        reftorch._fused_adam_(*lists(reftorch, **changed), **OPTIONS)


def test_transforms_refuse_to_change_lists() -> None:
    def step(p: Any) -> Any:
        reftorch._fused_adam_(*lists(reftorch, params=[p]), **OPTIONS)
        return p

    with pytest.raises(RuntimeError, match="Batching rule not implemented for aten::_fused_adam_"):
        reftorch.vmap(step)(reftorch.ones(2, 2, 3))
    with pytest.raises(NotImplementedError, match="Trying to use forward AD with _fused_adam_"):
        reftorch.func.jvp(lambda p: step(p.clone()), (reftorch.ones(2, 3),), (reftorch.ones(2, 3),))
