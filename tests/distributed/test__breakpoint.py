"""A stop on one rank, while the others wait.

Mirrors: test/distributed/test_c10d_common.py
"""

from __future__ import annotations

import io
import sys
import time
from typing import Any

import pytest

import reftorch as torch
from tests.distributed.ranks import world

dist: Any = torch.distributed


def test_one_rank_stops_and_the_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    stops: list[int] = []
    left: list[tuple[int, int]] = []

    def hook() -> None:
        time.sleep(0.05)
        assert not left
        stops.append(dist.get_rank())

    monkeypatch.setattr(sys, "breakpointhook", hook)

    def program() -> None:
        dist.breakpoint(rank=1)
        left.append((dist.get_rank(), len(stops)))

    world(torch, 3, program)
    assert stops == [1] and sorted(left) == [(0, 1), (1, 1), (2, 1)]


def test_calls_can_be_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    stops: list[int] = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: stops.append(1))

    def program() -> None:
        for _ in range(4):
            dist.breakpoint(skip=3, timeout_s=None)

    world(torch, 1, program)
    assert len(stops) == 1


def test_pdb_says_where_the_call_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "breakpointhook", sys.__breakpointhook__)
    monkeypatch.setattr(sys, "stdin", io.StringIO("up\np 'the value is', value\ncontinue\n"))

    def program() -> None:
        value = 7  # noqa: F841
        dist.breakpoint()

    world(torch, 1, program)
    out = capsys.readouterr().out
    assert "Type 'up' to get to the frame" in out and "('the value is', 7)" in out
