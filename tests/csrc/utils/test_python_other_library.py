"""A program that mixes torch and reftorch learns it in one line.

Mirrors: nothing in PyTorch: no second library has its names.
"""

from collections.abc import Callable
from typing import Any

import pytest

import reftorch

OURS_GETS = "of PyTorch. Hint: the program uses torch and reftorch. Import one of them only, or convert tensors with"
THEIRS_GETS = "PyTorch's function, but a tensor of reftorch came in. Hint: the program uses torch and reftorch."

MIXED: dict[str, tuple[Callable[[Any, Any, Any], Any], str]] = {
    "add": (lambda torch, ours, theirs: reftorch.add(ours, theirs), OURS_GETS),
    "list of tensors": (lambda torch, ours, theirs: reftorch.cat([ours, theirs]), OURS_GETS),
    "subclass": (lambda torch, ours, theirs: ours.mul(torch.nn.Parameter(theirs)), OURS_GETS),
    "function": (lambda torch, ours, theirs: reftorch.nn.functional.gelu(theirs), OURS_GETS),
    "module": (lambda torch, ours, theirs: reftorch.nn.Linear(2, 2)(theirs), OURS_GETS),
    "dtype": (lambda torch, ours, theirs: reftorch.ones(2, dtype=torch.float64), OURS_GETS),
    "optimizer": (lambda torch, ours, theirs: reftorch.optim.SGD([torch.nn.Parameter(theirs)], lr=0.1), OURS_GETS),
    "Module.to": (lambda torch, ours, theirs: reftorch.nn.Linear(2, 2).to(torch.float64), OURS_GETS),
    "Module.to device": (lambda torch, ours, theirs: reftorch.nn.Linear(2, 2).to(torch.device("cpu")), OURS_GETS),
    "submodule": (lambda torch, ours, theirs: reftorch.nn.Sequential(torch.nn.Linear(2, 2)), OURS_GETS),
    "parameter": (
        lambda torch, ours, theirs: setattr(reftorch.nn.Linear(2, 2), "bias", torch.nn.Parameter(theirs)),
        OURS_GETS,
    ),
    "batch": (lambda torch, ours, theirs: reftorch.utils.data.default_collate([theirs, theirs]), OURS_GETS),
    "a + b": (lambda torch, ours, theirs: ours + theirs, OURS_GETS),
    "b + a": (lambda torch, ours, theirs: theirs + ours, OURS_GETS),
    "their add": (lambda torch, ours, theirs: torch.add(theirs, ours), THEIRS_GETS),
    "their method": (lambda torch, ours, theirs: theirs.matmul(ours), THEIRS_GETS),
    "their list": (lambda torch, ours, theirs: torch.stack([theirs, ours]), THEIRS_GETS),
    "their functional": (lambda torch, ours, theirs: torch.nn.functional.relu(ours), THEIRS_GETS),
    "their module": (lambda torch, ours, theirs: torch.nn.Linear(2, 2)(ours), THEIRS_GETS),
    "their loss": (lambda torch, ours, theirs: torch.nn.MSELoss()(ours, ours), THEIRS_GETS),
}


@pytest.mark.parametrize("name", MIXED)
def test_one_line_says_that_two_libraries_are_mixed(name: str, real_torch: Any) -> None:
    """Each of these ended in a RecursionError, or in *must be Tensor, not Tensor*."""
    call, expected = MIXED[name]
    with pytest.raises(TypeError) as info:
        call(real_torch, reftorch.ones(2), real_torch.ones(2))
    assert expected in str(info.value)
    assert "from_dlpack(x)" in str(info.value)


def test_state_of_a_module_of_torch_is_named(real_torch: Any) -> None:
    with pytest.raises(RuntimeError) as info:
        reftorch.nn.Linear(2, 2).load_state_dict(real_torch.nn.Linear(2, 2).state_dict())
    assert OURS_GETS in str(info.value)


def test_the_hint_works(real_torch: Any) -> None:
    ours, theirs = reftorch.ones(2), real_torch.arange(2.0)
    assert (ours + reftorch.from_dlpack(theirs)).tolist() == [1, 2]
    assert (theirs + real_torch.from_dlpack(ours)).tolist() == [1, 2]


def test_a_class_of_the_users_own_may_still_take_both(real_torch: Any) -> None:
    class Bridge(real_torch.Tensor):  # type: ignore[name-defined, misc]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return "the bridge answers"

    assert reftorch.add(reftorch.ones(2), real_torch.ones(2).as_subclass(Bridge)) == "the bridge answers"


def test_other_values_have_no_hint() -> None:
    with pytest.raises(TypeError) as info:
        reftorch.add(reftorch.ones(2), object())
    assert "Hint" not in str(info.value)
