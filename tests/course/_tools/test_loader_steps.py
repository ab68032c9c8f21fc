"""The picture of a loader's queues is what a pass really did, and no worker is left behind.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import multiprocessing

import pytest

from course._tools import loader_steps
from course._tools.loader_steps import steps_of


def test_batches_that_come_early_wait_for_their_turn():
    steps = steps_of([1, 3, 0, 2])
    assert [step.tasks for step in steps] == [
        [[0, 2], [1, 3]],
        [[0, 2], [3]],
        [[0, 2], []],
        [[2], []],
        [[2], []],
        [[], []],
        [[], []],
    ]
    assert [step.waiting for step in steps] == [[], [1], [1, 3], [1, 3], [3], [3], []]
    assert steps[-1].returned == [0, 1, 2, 3]
    assert multiprocessing.active_children() == []


def test_the_next_task_is_handed_out_when_a_batch_is_returned():
    steps = steps_of([0, 1, 2, 3], prefetch_factor=1)
    assert [step.tasks for step in steps] == [[[0], [1]], [[2], [1]], [[2], [3]], [[], [3]], [[], []]]


def test_an_order_that_no_workers_can_finish_in_is_refused():
    with pytest.raises(ValueError, match="no worker can finish task 2 now"):
        steps_of([2, 0, 1, 3])
    assert multiprocessing.active_children() == []


def test_the_picture_says_what_happened():
    picture = loader_steps([1, 0])
    assert repr(picture) == "[picture] the loader and its workers in 4 steps"
    assert "1 comes, and 0 is due: 1 waits" in picture.svg()
    assert "1 was waiting, and is returned" in picture.svg()
