"""A warning names the line of the user's program, whichever of our frames stand in between.

Mirrors: nothing in PyTorch: there each warning's place is tested where it is given.
"""

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import reftorch
from tests.answers.watched import asked

ROOT = Path(__file__).resolve().parents[1]

# From C++ and from Python, through a decorator, a property, a number slot, a module's call.
CALLS: dict[str, Callable[[Any], Any]] = {
    "degrees of freedom": lambda torch: torch.var_mean(torch.ones(1)),
    "degrees of freedom of cov": lambda torch: torch.cov(torch.ones(1, 1)),
    "a function in C++": lambda torch: torch.qr(torch.eye(2)),
    "cholesky": lambda torch: torch.cholesky(torch.eye(2)),
    "triangular_solve": lambda torch: torch.triangular_solve(torch.eye(2), torch.eye(2)),
    "a number slot": lambda torch: float(torch.ones(1, requires_grad=True)),
    "a property": lambda torch: torch.ones(2, 2, 2).T,
    "a method": lambda torch: torch.ones(4).resize(2, 2),
    "a loss": lambda torch: torch.nn.functional.l1_loss(torch.ones(2, 2), torch.ones(2)),
    "a loss's own": lambda torch: torch.nn.functional.kl_div(torch.ones(2, 2), torch.ones(2, 2)),
    "a factory": lambda torch: torch.tensor(torch.ones(1)),
    "an array": lambda torch: torch.from_numpy(np.frombuffer(b"12", dtype=np.uint8)),
    "a buffer": lambda torch: torch.frombuffer(b"12", dtype=torch.uint8),
}
# Here PyTorch names a line of its own.
OURS_ALONE: dict[str, Callable[[Any], Any]] = {
    "backward": lambda torch: torch.ones(1, requires_grad=True).sum().backward(create_graph=True),
    "a list of tensors": lambda torch: torch.meshgrid(torch.ones(2), torch.ones(2)),
    "a module's call": lambda torch: torch.nn.Softmax()(torch.ones(2, 2)),
    "a module's constructor": lambda torch: torch.nn.Linear(0, 2),
    "a former argument": lambda torch: torch.nn.functional.mse_loss(torch.ones(2), torch.ones(2), size_average=True),
}


def warned(call: Callable[[Any], Any], library: ModuleType) -> list[tuple[type[Warning], str]]:
    reftorch.set_warn_always(True)
    library.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(library)
    finally:
        reftorch.set_warn_always(False)
        library.set_warn_always(False)
    return [(warning.category, Path(warning.filename).name) for warning in caught]


@pytest.mark.parametrize("name", CALLS)
def test_place(name: str, real_torch_or_none: ModuleType | None) -> None:
    ours = warned(CALLS[name], reftorch)
    assert ours == [(UserWarning, Path(__file__).name)]
    if real_torch_or_none is not None:
        assert asked(real_torch_or_none, lambda lib: warned(CALLS[name], lib)) == ours


@pytest.mark.parametrize("name", OURS_ALONE)
def test_place_where_torch_names_itself(name: str) -> None:
    assert warned(OURS_ALONE[name], reftorch) == [(UserWarning, Path(__file__).name)]


def test_a_filter_makes_errors() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="degrees of freedom"):
            reftorch.std(reftorch.ones(1))
        with pytest.raises(UserWarning, match="not writable"):
            reftorch.frombuffer(b"12", dtype=reftorch.uint8)
        with pytest.raises(UserWarning, match="indexing argument"):
            reftorch.meshgrid(reftorch.ones(2))


def test_there_is_one_way_to_warn() -> None:
    python = [path for path in (ROOT / "reftorch").rglob("*.py") if re.search(r"\bwarnings\.warn\(", path.read_text())]
    assert python == [ROOT / "reftorch" / "_warnings.py"]
    cpp = [path for path in (ROOT / "cpp").rglob("*.cpp") if "PyErr_Warn" in path.read_text()]
    assert cpp == []


ONCE: dict[str, Callable[[Any], object]] = {
    "where": lambda t: t.where(t.tensor([1], dtype=t.uint8), t.ones(1), t.ones(1)),
    "cross": lambda t: t.cross(t.ones(3), t.ones(3)),
    "T": lambda t: t.ones(2, 2, 2).T,
    "meshgrid": lambda t: t.meshgrid(t.ones(1), t.ones(1)),
    "a number": lambda t: float(t.ones(1, requires_grad=True)),
    "a buffer": lambda t: t.frombuffer(b"12345678", dtype=t.uint8),
    "arrays": lambda t: t.tensor([np.ones(2), np.ones(2)]),
    "same": lambda t: t.nn.functional.conv2d(t.ones(1, 1, 5, 5), t.ones(1, 1, 2, 2), padding="same"),
    "cholesky": lambda t: t.cholesky(t.eye(2)),
    "strides": lambda t: t.searchsorted(t.ones(4)[::2], t.ones(2)),
    "norm of nothing": lambda t: t.ones(1).std(),  # this one comes each time
}


def times_warned(library: Any, call: Callable[[Any], object]) -> int:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(3):
            call(library)
    return len(said)


@pytest.mark.parametrize("name", ONCE)
def test_what_is_said_once_in_a_program(name: str) -> None:
    each_time = name == "norm of nothing"
    assert times_warned(reftorch, ONCE[name]) == (3 if each_time else 1)
    assert times_warned(reftorch, ONCE[name]) == (3 if each_time else 0)
    reftorch.set_warn_always(True)
    try:
        assert times_warned(reftorch, ONCE[name]) == 3
    finally:
        reftorch.set_warn_always(False)
