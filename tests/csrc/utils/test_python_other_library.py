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
    "their init": (lambda torch, ours, theirs: torch.nn.init.normal_(reftorch.nn.Linear(2, 2).weight), THEIRS_GETS),
    "their op, our parameter": (lambda torch, ours, theirs: theirs.add(reftorch.nn.Parameter(ours)), THEIRS_GETS),
    "Parameter": (lambda torch, ours, theirs: reftorch.nn.Parameter(theirs), OURS_GETS),
    "register_buffer": (lambda torch, ours, theirs: reftorch.nn.Linear(2, 2).register_buffer("b", theirs), OURS_GETS),
    "buffer": (lambda torch, ours, theirs: setattr(reftorch.nn.BatchNorm1d(2), "running_mean", theirs), OURS_GETS),
    "register_parameter": (
        lambda torch, ours, theirs: reftorch.nn.Linear(2, 2).register_parameter("p", torch.nn.Parameter(theirs)),
        OURS_GETS,
    ),
    "scheduler": (
        lambda torch, ours, theirs: reftorch.optim.lr_scheduler.StepLR(torch.optim.SGD([theirs], lr=0.1), 1),
        OURS_GETS,
    ),
    "x[i] = y": (lambda torch, ours, theirs: ours.__setitem__(0, theirs[0]), OURS_GETS),
    "x[mask]": (lambda torch, ours, theirs: ours[theirs > 0], OURS_GETS),
    "x[i, j]": (lambda torch, ours, theirs: ours[theirs.long(), None], OURS_GETS),
    "x.data = y": (lambda torch, ours, theirs: setattr(ours, "data", theirs), OURS_GETS),
    "x.grad = y": (lambda torch, ours, theirs: setattr(ours, "grad", theirs), OURS_GETS),
    "type": (lambda torch, ours, theirs: ours.type(torch.float64), OURS_GETS),
    "default dtype": (lambda torch, ours, theirs: reftorch.set_default_dtype(torch.float64), OURS_GETS),
    "from_numpy": (lambda torch, ours, theirs: reftorch.from_numpy(theirs), OURS_GETS),
    "Tensor": (lambda torch, ours, theirs: reftorch.Tensor(theirs), OURS_GETS),
    "Variable": (lambda torch, ours, theirs: reftorch.autograd.Variable(theirs), OURS_GETS),
    "grad": (lambda torch, ours, theirs: reftorch.autograd.grad(theirs.sum(), ours), OURS_GETS),
    "backward": (
        lambda torch, ours, theirs: reftorch.ones(2, requires_grad=True).mul(ours).backward(theirs),
        OURS_GETS,
    ),
    "functional_call": (
        lambda torch, ours, theirs: reftorch.func.functional_call(reftorch.nn.Linear(2, 2), {"bias": theirs}, (ours,)),
        OURS_GETS,
    ),
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


@pytest.mark.parametrize("name", ["list of numbers", "vmap", "grad"])
def test_other_errors_have_the_sentence_too(name: str, real_torch: Any) -> None:
    theirs = real_torch.ones(2)
    kind, call = {
        "list of numbers": (RuntimeError, lambda: reftorch.tensor([theirs[0], theirs[1]])),
        "vmap": (ValueError, lambda: reftorch.func.vmap(reftorch.sin)(theirs)),
        "grad": (ValueError, lambda: reftorch.func.grad(reftorch.sum)(theirs)),
    }[name]
    with pytest.raises(kind) as info:
        call()
    assert OURS_GETS in str(info.value)


def test_a_tensor_of_torch_is_data_for_a_new_tensor(real_torch: Any) -> None:
    theirs = real_torch.arange(2.0)
    for made in (reftorch.tensor(theirs), reftorch.as_tensor(theirs), reftorch.asarray(theirs)):
        assert type(made) is reftorch.Tensor and made.tolist() == [0, 1]
    assert real_torch.as_tensor(reftorch.arange(2.0)).tolist() == [0, 1]


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
