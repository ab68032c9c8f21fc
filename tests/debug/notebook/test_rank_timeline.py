"""Timelines of ranks: what is recorded, in which order, and the picture.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: how long anything takes.
"""

from __future__ import annotations

import pickle
import time
from datetime import timedelta
from typing import Any
from xml.etree import ElementTree

import pytest

import reftorch as torch
import reftorch.distributed as dist
from reftorch.debug import draw_rank_timeline, rank_timeline
from reftorch.debug.notebook.rank_timeline import Timeline
from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms

SVG = "{http://www.w3.org/2000/svg}"
METHODS = ("autograd_hook", "_all_reduce_bucket", "finalize_backward")


def ddp_steps() -> Any:
    net = torch.nn.Sequential(*[torch.nn.Linear(10, 10, bias=False) for _ in range(3)])
    return torch.nn.parallel.DistributedDataParallel(net, bucket_cap_mb=400 / 2**20)


def one_step() -> list[Timeline]:
    @spawn_threads_and_init_comms(world_size=2)
    def program() -> Timeline:
        ddp, x = ddp_steps(), torch.ones(4, 10)
        for _ in range(2):  # the second forward builds the buckets again, for which the ranks talk
            ddp(x).sum().backward()
        dist.barrier()
        with rank_timeline() as timeline:
            with timeline.span("forward"):
                loss = ddp(x).sum()
            timeline.mark("between")
            with timeline.span("backward"):
                loss.backward()
        dist.barrier()  # is not recorded
        return timeline

    return program()


def test_a_step_of_ddp() -> None:
    before = [getattr(dist.Reducer, name) for name in METHODS]
    timelines = one_step()
    assert [getattr(dist.Reducer, name) for name in METHODS] == before
    for rank, timeline in enumerate(timelines):
        assert timeline.rank == rank
        assert [span.text for span in timeline.spans] == ["forward", "wait", "backward"]
        assert [mark.text for mark in timeline.marks] == [
            "between",
            *(f"gradient of {layer}.weight" for layer in (2, 1, 0)),
        ]
        reduced = [each for each in timeline.collectives if each.bucket is not None]
        assert [each.bucket for each in reduced] == [0, 1, 2]
        assert all("all_reduce(SUM) of Float[100]" in each.text and not each.failed for each in reduced)
        gradients = timeline.marks[1:]
        forward, wait, backward = timeline.spans
        for each, gradient in zip(reduced, gradients, strict=True):
            assert gradient.at <= each.called <= each.begin <= each.end <= wait.end
        assert forward.end <= timeline.marks[0].at <= backward.begin <= gradients[0].at
        assert reduced[0].called <= gradients[1].at, "the first bucket left before the second gradient came"
        assert wait.end <= backward.end


def test_a_slow_rank_is_waited_for() -> None:
    @spawn_threads_and_init_comms(world_size=2)
    def program() -> Timeline:
        dist.barrier()
        with rank_timeline() as timeline:
            if dist.get_rank() == 1:
                time.sleep(0.05)
            dist.all_reduce(torch.ones(3))
        return timeline

    quick, slow = (each.collectives[0] for each in program())
    assert quick.called <= quick.begin < slow.called <= slow.begin < quick.end


def test_the_picture() -> None:
    timelines = one_step()
    picture = draw_rank_timeline(*timelines)
    assert repr(picture) == "[picture] 2 ranks, 3 collectives"
    root = ElementTree.fromstring(picture.svg())
    texts = [each.text or "" for each in root.iter(f"{SVG}text")]
    assert [text for text in texts if text.startswith("rank ")] == ["rank 0", "rank 1"]
    assert [text.split("  ")[1].split(":")[0] for text in texts if "  " in text] == ["bucket 0", "bucket 1", "bucket 2"]
    boxes = [each.attrib for each in root.iter(f"{SVG}rect") if "x" in each.attrib]
    assert len(boxes) == 2 * (2 + 3 + 3) + 3  # lanes, spans and collectives of each rank, and the list
    assert all(float(each["x"]) + float(each["width"]) <= picture.width + 1 for each in boxes)
    assert picture.width <= 1000


def test_timelines_of_processes_are_gathered() -> None:
    @spawn_threads_and_init_comms(world_size=2)
    def program() -> list[Timeline]:
        with rank_timeline() as timeline:
            dist.barrier()
        assert pickle.loads(pickle.dumps(timeline)) == timeline
        return timeline.gather()

    first, second = program()
    assert [each.rank for each in first] == [each.rank for each in second] == [0, 1]
    assert first == second


def test_a_collective_that_failed_is_marked() -> None:
    @spawn_threads_and_init_comms(world_size=2, timeout=timedelta(seconds=20))
    def program() -> Timeline:
        with rank_timeline() as timeline, pytest.raises(dist.DistBackendError):
            dist.all_reduce(torch.ones(1 + dist.get_rank()))
        return timeline

    for timeline in program():
        assert [each.failed for each in timeline.collectives] == [True]
        assert "(failed)" in str(timeline)


def test_a_group_of_some_ranks() -> None:
    @spawn_threads_and_init_comms(world_size=3)
    def program() -> list[str] | None:
        group = dist.new_group([0, 2])
        if dist.get_rank() == 1:
            return None
        with rank_timeline(group) as timeline:
            dist.barrier(group=group)
        return [each.text for each in timeline.collectives]

    assert program() == [["#1 barrier"], None, ["#1 barrier"]]


def test_text_of_a_timeline() -> None:
    timeline = one_step()[0]
    lines = str(timeline).splitlines()
    assert lines[0] == "rank 0" and lines[1].split() == ["what", "called,", "ms", "began,", "ms", "ended,", "ms"]
    assert lines[3].startswith("forward ") and any(line.startswith("bucket 2: #") for line in lines)


def test_nothing_was_recorded() -> None:
    with pytest.raises(ValueError, match="nothing was recorded"):
        draw_rank_timeline(Timeline(0))
    assert str(Timeline(3)) == "rank 3: nothing was recorded"
    with pytest.raises(ValueError, match="Default process group"), rank_timeline():
        pass
