"""Each function of networks against torch's, drawn over its arguments.

Mirrors: test/test_nn.py, test/test_ops.py
Leaves out: the functions of the layers in tests/nn/modules/draws.py, which are drawn through the layers.

What is compared: the outputs, the first and second gradients of all inputs, and, where a draw is wrong, the type of the
error and its message.
"""

import random
import warnings
import zlib
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.nn.functional.draws import ROWS, Call
from tests.nn.modules.draws import T
from tests.nn.modules.test___init__ import assert_same, flat, gradients

DRAWS = 25
# Errors whose words are ours, by a part of them. The type is torch's.
OWN_WORDS = (
    "pad should be smaller than or equal to half of kernel size",
    "padding should be at most half of kernel size",
    "Expected size for first two dimensions of batch2 tensor",
    "is too small",
    "Output size is too small",
    "kernel size should be greater than zero",
    "dilation should be greater than zero",
    "too large relative to input",
)


def run(lib: ModuleType, call: Call, seed: int) -> Any:
    name, args, kwargs = call

    def made(value: Any, place: int) -> Any:
        if isinstance(value, T):
            tensor = value.make(lib, seed + place)
            return tensor.requires_grad_() if value.kind == "normal" else tensor
        return lib.tensor(value[1]) if isinstance(value, tuple) and value[:1] == ("offsets",) else value

    given = [made(value, place) for place, value in enumerate(args)]
    options = {key: made(value, 50 + place) for place, (key, value) in enumerate(kwargs.items())}
    output = getattr(lib.nn.functional, name)(*given, **options)
    outputs = output if isinstance(output, tuple) else (output,)
    leaves = [t for t in (*given, *options.values()) if isinstance(t, lib.Tensor) and t.requires_grad]
    firsts, seconds = gradients(lib, outputs[0], leaves)
    return [[flat(t) for t in outputs], firsts, seconds]


def attempt(lib: ModuleType, call: Call, seed: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run(lib, call, seed)
        except Exception as error:
            return type(error).__name__, str(error).replace("reftorch", "torch")


@pytest.mark.parametrize("name", ROWS)
def test_a_function_is_that_of_torch(real_torch: ModuleType, name: str) -> None:
    rng = random.Random(zlib.crc32(name.encode()))
    finished = 0
    for _ in range(DRAWS):
        call, seed = ROWS[name](rng), rng.randrange(1 << 20)
        ours, theirs = attempt(reftorch, call, seed), attempt(real_torch, call, seed)
        if isinstance(ours, tuple) and isinstance(theirs, tuple) and any(words in ours[1] for words in OWN_WORDS):
            ours, theirs = ours[:1], theirs[:1]
        try:
            assert_same(ours, theirs)
        except AssertionError as error:
            raise AssertionError(f"{call}, seed {seed}: {error}") from None
        finished += isinstance(ours, list)
    assert finished >= DRAWS // 4
