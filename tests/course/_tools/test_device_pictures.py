"""The pictures of chapter 15 show what was measured: spans in their lanes, and the blocks of a snapshot.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

import reftorch as torch
from course._tools import segments, stream_lanes
from course._tools.device_pictures import MIB, SHADES, STATES, Span

SVG = "{http://www.w3.org/2000/svg}"
SPANS = [
    Span("host", "a", 0.0, 0.01),
    Span("host", "b", 0.02, 0.03),
    Span("maker", "a", 0.5, 50.0),
    Span("user", "b", 50.0, 100.0),
]


def drawn(picture) -> tuple[list[str], list[ElementTree.Element]]:
    """The texts and the boxes of a picture; the first box is the background."""
    root = ElementTree.fromstring(picture.svg())
    return [each.text or "" for each in root.iter(f"{SVG}text")], list(root.iter(f"{SVG}rect"))[1:]


def test_a_step_has_its_colour_in_every_lane_and_a_short_call_is_seen():
    texts, boxes = drawn(stream_lanes(SPANS, "two streams"))
    assert [text for text in texts if text in ("host", "maker", "user")] == ["host", "maker", "user"]
    assert [box.get("fill") for box in boxes[:4]] == [SHADES[0], SHADES[1], SHADES[0], SHADES[1]]
    assert min(float(box.get("width")) for box in boxes[:4]) >= 1
    a, b = (float(boxes[2].get("x")), float(boxes[3].get("x")))
    assert b - a == pytest.approx(640 * 49.5 / 100, abs=0.1)
    assert "100 ms" in texts


def test_the_blocks_of_each_segment_are_drawn_in_their_order(monkeypatch):
    def block(size: int, state: str) -> dict[str, object]:
        return {"size": size, "state": state}

    small = [block(512, "active_allocated"), block(2 * MIB - 512, "inactive")]
    large = [block(5 * MIB, "active_pending_free"), block(15 * MIB, "inactive")]
    snapshot = [
        {"device": 0, "segment_type": "small", "total_size": 2 * MIB, "blocks": small},
        {"device": 0, "segment_type": "large", "total_size": 20 * MIB, "blocks": large},
        {"device": 1, "segment_type": "large", "total_size": 20 * MIB, "blocks": large},
    ]
    monkeypatch.setattr(torch.cuda, "memory_snapshot", lambda: snapshot)
    texts, boxes = drawn(segments("two segments"))
    fills = {state: fill for state, (fill, _) in STATES.items()}
    states = ["active_allocated", "inactive", "active_pending_free", "inactive"]
    assert [box.get("fill") for box in boxes[:4]] == [fills[state] for state in states]
    assert [float(box.get("width")) for box in boxes[:4]] == pytest.approx([1, 600, 150, 450], abs=0.2)
    assert [text for text in texts if "MiB" in text] == ["small, 2 MiB", "2 MiB", "large, 20 MiB", "5 MiB", "15 MiB"]
    monkeypatch.setattr(torch.cuda, "memory_snapshot", list)
    with pytest.raises(ValueError, match="no segment"):
        segments("nothing")
