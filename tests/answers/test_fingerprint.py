"""Answers that differ are found to differ, and those that only round otherwise are not.

Mirrors: nothing in PyTorch: it has no other library to be compared with.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.answers import stored
from tests.answers.fingerprint import TOLERANCE, Answers, Log

NUMBERS = np.random.default_rng(0).standard_normal(50)


def log_of(*values: object, messages: tuple[str, ...] = (), tolerance: float = TOLERANCE["float32"]) -> Log:
    log = Log()
    for i, value in enumerate(values):
        log.answer(f"answer {i}", value, tolerance)
    for message in messages:
        log.error("call", ValueError(message))
    return log


def changed(change: Callable[[np.ndarray], None]) -> np.ndarray:
    values = NUMBERS.copy()
    change(values)
    return values


def one_element(values: np.ndarray) -> None:
    values[7] += 0.1


def a_nan(values: np.ndarray) -> None:
    values[7] = float("nan")


def two_places(values: np.ndarray) -> None:
    values[[3, 4]] = values[[4, 3]]


def the_scale(values: np.ndarray) -> None:
    values *= 1.01


@pytest.mark.parametrize("change", [one_element, a_nan, two_places, the_scale])
def test_other_numbers_differ(change: Callable[[np.ndarray], None]) -> None:
    difference = Answers.of(log_of(3, NUMBERS, "text")).difference(log_of(3, changed(change), "text"))
    assert difference is not None and "answer 1" in difference


def test_rounding_is_no_difference() -> None:
    rounded = NUMBERS.astype(np.float32).astype(np.float64)
    assert Answers.of(log_of(NUMBERS)).difference(log_of(rounded)) is None
    assert Answers.of(log_of(0.0)).difference(log_of(1e-12)) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (3, 4),
        (True, 1),
        (None, 0),
        ((2, 3), (3, 2)),
        ("torch.float32", "torch.float64"),
        (np.arange(4), np.array([0, 1, 3, 2])),
        (np.float32([1, 2]), np.float64([1, 2])),
        ([1.0, [2.0]], [1.0, 2.0]),
    ],
)
def test_anything_else_must_be_equal(one: object, other: object) -> None:
    assert Answers.of(log_of(one)).difference(log_of(one)) is None
    assert Answers.of(log_of(one)).difference(log_of(other)) is not None


def test_the_largest_numbers_have_a_sum() -> None:
    largest = np.full(8, np.finfo(np.float64).max)
    answers = Answers.of(log_of(largest))
    assert answers.difference(log_of(largest)) is None
    assert answers.difference(log_of(largest / 2)) is not None


def test_the_name_of_the_library_is_no_difference() -> None:
    assert Answers.of(log_of("torch.float32")).difference(log_of("reftorch.float32")) is None


def test_a_message_may_go_on_after_torchs_words_and_not_otherwise() -> None:
    answers = Answers.of(log_of(messages=("sizes must match",)))
    assert answers.difference(log_of(messages=("sizes must match; see view()",))) is None
    assert "another one" in str(answers.difference(log_of(messages=("sizes must fit",))))
    assert answers.difference(log_of("a value")) is not None


def test_more_answers_than_torch_gave_are_a_difference() -> None:
    assert "asked for 2 answers" in str(Answers.of(log_of(1)).difference(log_of(1, 1)))


def test_a_difference_among_many_answers_is_found_and_shown() -> None:
    many = [*range(100)]
    difference = str(Answers.of(log_of(*many)).difference(log_of(*many[:50], -1, *many[51:])))
    assert "answer 50: -1" in difference and "answer 10:" not in difference


def test_the_file_gives_back_what_was_written(tmp_path: Path) -> None:
    answers = {
        "b": Answers.of(log_of(1, NUMBERS, [NUMBERS] * 3, messages=("no",))),
        "a": Answers.of(log_of(*range(40))),
        "c": Answers.of(log_of(messages=("x" * 300, ""))),
    }
    stored.write(answers, {"by": "torch 2.13"}, tmp_path / "answers.xz")
    assert stored.read(tmp_path / "answers.xz") == (answers, {"by": "torch 2.13"})
