"""Each module against torch's, drawn over its arguments.

Mirrors: torch/testing/_internal/common_modules.py, test/test_modules.py
Leaves out: modules whose rows stand in the tests of their families.

What is compared: the text, the attributes, names and values of the state, the outputs in training and in evaluation
mode, the first and second gradients of inputs and parameters, a pickled copy, and, where a draw is wrong, the type of
the error and its message.
"""

import pickle
import random
import warnings
import zlib
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.nn.modules import draws, draws_of_shapes
from tests.nn.modules.draws import Draw, T

ROWS = draws.ROWS | draws_of_shapes.ROWS

DRAWS = 12
# The type of the error is torch's, but the message is not.
OWN_WORDS = {
    "Dropout1d": "torch's message explains three uses in several sentences",
    "NLLLoss": "torch names the shape of the weight for rows of scores alone, not for images",
    "ReplicationPad2d": "torch names the sizes of all dimensions where one is too small",
    "ReplicationPad3d": "torch names the sizes of all dimensions where one is too small",
}


def flat(tensor: Any) -> list[Any]:
    return [str(tensor.dtype).replace("reftorch", "torch"), list(tensor.shape), *tensor.detach().reshape(-1).tolist()]


def gradients(lib: ModuleType, output: Any, leaves: list[Any]) -> tuple[list[Any], list[Any] | None]:
    """First and second gradients, with weights that differ from element to element; a missing gradient is zero."""

    def weigh(t: Any) -> Any:
        return (t * (lib.arange(t.numel(), dtype=t.dtype) * 0.7).sin().reshape(t.shape)).sum()

    def numbers(grads: Any) -> list[Any]:
        zeros = [lib.zeros(leaf.shape, dtype=leaf.dtype) for leaf in leaves]
        return [flat(z if g is None else g + z) for g, z in zip(grads, zeros, strict=True)]

    if not output.requires_grad:
        return [], None
    firsts = lib.autograd.grad(weigh(output), leaves, create_graph=True, allow_unused=True)
    total = sum((weigh(g) for g in firsts if g is not None), lib.zeros((), dtype=lib.float64))
    if not total.requires_grad:
        return numbers(firsts), numbers([None] * len(leaves))
    try:
        return numbers(firsts), numbers(lib.autograd.grad(total, leaves, allow_unused=True))
    except RuntimeError as error:  # torch lacks some second derivatives
        if "is not implemented" not in str(error):
            raise
        return numbers(firsts), None


def run(lib: ModuleType, name: str, draw: Draw, seed: int) -> Any:
    def made(value: Any, place: int) -> Any:
        return value.make(lib, seed + place) if isinstance(value, T) else value

    lib.manual_seed(seed)
    kwargs = {key: made(value, 50) for key, value in draw.kwargs.items()}
    module = getattr(lib.nn, name)(*draw.args, **kwargs)
    found: list[Any] = [repr(module), sorted(vars(module)), module.extra_repr()]
    found.append({key: flat(value) for key, value in module.state_dict().items()})
    module.double()
    inputs = [made(value, place) for place, value in enumerate(draw.inputs)]
    for value, drawn in zip(inputs, draw.inputs, strict=True):
        if isinstance(drawn, T) and drawn.kind == "normal":
            value.requires_grad_(True)
    leaves = [t for t in (*inputs, *module.parameters()) if isinstance(t, lib.Tensor) and t.requires_grad]
    # A module that works in place may not overwrite a leaf.
    passed = [t * 1 if isinstance(t, lib.Tensor) and t.requires_grad else t for t in inputs]
    output = module(*passed)
    firsts, seconds = gradients(lib, output, leaves)
    found += [flat(output), firsts]
    copied = pickle.loads(pickle.dumps(module.eval()))
    found += [repr(copied), copied.training, flat(copied(*[t * 1 if isinstance(t, lib.Tensor) else t for t in inputs]))]
    return [*found, seconds]


def attempt(lib: ModuleType, name: str, draw: Draw, seed: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run(lib, name, draw, seed)
        except Exception as error:
            return type(error).__name__, "" if name in OWN_WORDS else str(error).replace("reftorch", "torch")


def assert_same(ours: Any, theirs: Any) -> None:
    if theirs is None:
        return
    assert type(ours) is type(theirs), (ours, theirs)
    if isinstance(ours, dict):
        assert list(ours) == list(theirs)
        ours, theirs = list(ours.values()), list(theirs.values())
    if isinstance(ours, list):
        assert len(ours) == len(theirs), (ours, theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b)
    elif isinstance(ours, float):
        assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-9, nan_ok=True)
    else:
        assert ours == theirs


@pytest.mark.parametrize("name", ROWS)
def test_a_module_is_that_of_torch(real_torch: ModuleType, name: str) -> None:
    rng = random.Random(zlib.crc32(name.encode()))
    finished = 0
    for _ in range(DRAWS):
        draw, seed = ROWS[name](rng), rng.randrange(1 << 20)
        ours = attempt(reftorch, name, draw, seed)
        theirs = asked(real_torch, lambda lib, draw=draw, seed=seed: attempt(lib, name, draw, seed))
        try:
            assert_same(ours, theirs)
        except AssertionError as error:
            raise AssertionError(f"{name}, {draw}, seed {seed}: {error}") from None
        finished += isinstance(ours, list)
    assert finished >= DRAWS // 4
