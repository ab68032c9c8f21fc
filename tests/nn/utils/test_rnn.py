"""Packed and padded sequences, drawn over lengths, shapes and options.

Mirrors: test/nn/test_packed_sequence.py
Leaves out: CUDA.
"""

import pickle
import random
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.nn.utils.both import compare, tried


def drawn(lib: Any, rng: random.Random, lengths: list[int], rest: tuple[int, ...]) -> list[Any]:
    """Sequences of the given lengths, with gradients."""
    found = []
    for length in lengths:
        size = length
        for s in rest:
            size *= s
        values = [rng.gauss(0, 1) for _ in range(size)]
        found.append(lib.tensor(values).reshape(length, *rest).requires_grad_(True))
    return found


def fields(packed: Any) -> list[Any]:
    return [packed.data, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices]


def program(lib: Any, seed: int) -> Any:
    rng = random.Random(seed)
    lengths = [rng.randint(1, 5) for _ in range(rng.randint(1, 5))]
    enforce, rest = rng.random() < 0.5, tuple(rng.randint(1, 3) for _ in range(rng.randint(0, 2)))
    if enforce:
        lengths.sort(reverse=True)
    batch_first, side, value = rng.random() < 0.5, rng.choice(("left", "right")), rng.choice((0.0, -1.5))
    sequences = drawn(lib, rng, lengths, rest)
    rnn = lib.nn.utils.rnn
    padded = rnn.pad_sequence(sequences, batch_first, value, side)
    packed = rnn.pack_sequence(sequences, enforce_sorted=enforce)
    total = rng.choice((None, max(lengths) + 2))
    again, counts = rnn.pad_packed_sequence(packed, batch_first, value, total)
    repacked = rnn.pack_padded_sequence(again, counts, batch_first, enforce_sorted=enforce)
    found = [padded, *fields(packed), again, counts, *fields(repacked), rnn.unpack_sequence(packed)]
    found.append(rnn.unpad_sequence(again.detach().clone(), counts, batch_first))
    weights = (lib.arange(again.numel()) * 0.3).sin().reshape(again.shape)
    (again * weights).sum().backward()
    return [*found, [s.grad for s in sequences], *fields(pickle.loads(pickle.dumps(packed.to(lib.float64))))]


@pytest.mark.parametrize("seed", range(25))
def test_sequences_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    compare(lambda lib: program(lib, seed), real_torch)


def errors(lib: Any) -> list[Any]:
    rnn, x = lib.nn.utils.rnn, lib.ones(3, 2)
    packed = rnn.pack_sequence([lib.ones(3), lib.ones(2)])
    return [
        tried(call)
        for call in (
            lambda: rnn.pad_sequence(3),
            lambda: rnn.pad_sequence([]),
            lambda: rnn.pack_padded_sequence(x, [2, 3]),
            lambda: rnn.pack_padded_sequence(x, [3]),
            lambda: rnn.pack_padded_sequence(x, [3, 0]),
            lambda: rnn.pack_padded_sequence(lib.ones(0, 2), [1, 1]),
            lambda: rnn.pad_packed_sequence(packed, total_length=2),
            lambda: rnn.PackedSequence(lib.ones(3)),
            lambda: rnn.unpad_sequence(x, lib.tensor([1, 2, 3])),
        )
    ]


def test_errors_are_those_of_torch(real_torch: ModuleType) -> None:
    compare(errors, real_torch)


def test_lengths_beyond_the_time_steps_are_refused() -> None:
    with pytest.raises(RuntimeError, match="Expected the lengths to be at most the number of time steps, but got 4"):
        reftorch.nn.utils.rnn.pack_padded_sequence(reftorch.ones(3, 2), [4, 2])
    with pytest.raises(RuntimeError, match="Expected padding_side to be one of left or right"):
        reftorch.nn.utils.rnn.pad_sequence([reftorch.ones(2)], padding_side="up")


def conversions(lib: Any) -> list[Any]:
    packed = lib.nn.utils.rnn.pack_sequence([lib.ones(2), lib.ones(3)], enforce_sorted=False)
    names = ("double", "float", "half", "long", "int", "short", "char", "byte", "cpu")
    made = [getattr(packed, name)() for name in names]
    same = [packed.float() is packed, packed.to("cpu") is packed, packed.is_cuda, packed.is_pinned()]
    pair = lib.nn.utils.rnn.PackedSequence((packed.data, packed.batch_sizes))
    return [*map(fields, made), same, fields(pair), type(made[0]).__name__, lib.nn.utils.rnn.invert_permutation(None)]


def test_conversions_are_those_of_torch(real_torch: ModuleType) -> None:
    compare(conversions, real_torch)
