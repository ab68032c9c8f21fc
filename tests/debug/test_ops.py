"""Every op is seen, with its arguments and its results, forward and backward.

Mirrors: test/profiler/test_record_function.py
"""

from typing import Any

import pytest

import reftorch as torch
from reftorch.debug._ops import Observer, calling_lines, op_info


class Seen(Observer):
    """Notes the calls."""

    def __init__(self, broken: str = "") -> None:
        self.events: list[tuple[str, Any]] = []
        self.broken = broken

    def __enter__(self) -> "Seen":
        self.observe()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.look_away()

    def start(self, op: str, arguments: tuple) -> None:
        torch.ones(1) + 1  # the ops of an observer are not observed
        self.events.append((op, arguments))
        if op == self.broken:
            raise KeyError(op)

    def end(self, op: str, results: tuple | None) -> None:
        self.events.append((f"end {op}", results))


def test_arguments_and_results_in_order() -> None:
    x = torch.tensor([1.0, 4.0])
    with Seen() as seen:
        y = x.sqrt()
        z = y.add(y, alpha=2)
    names = [name for name, _ in seen.events]
    assert names == ["aten::sqrt", "end aten::sqrt", "aten::add.Tensor", "end aten::add.Tensor"]
    assert seen.events[0][1][0] is x and seen.events[1][1][0] is y
    assert seen.events[2][1] == (y, y, 2) and seen.events[3][1][0] is z


def test_ops_inside_ops_and_backward() -> None:
    w = torch.ones(2, 2, requires_grad=True)
    with Seen() as seen:
        torch.nn.functional.cross_entropy(w, torch.tensor([0, 1])).backward()
    names = [name for name, _ in seen.events]
    outer, inner = names.index("aten::cross_entropy_loss"), names.index("aten::_log_softmax")
    assert outer < inner < names.index("end aten::cross_entropy_loss")
    assert "aten::nll_loss_backward" in names and w.grad is not None


def test_an_op_that_fails_ends_without_results() -> None:
    with Seen() as seen, pytest.raises(RuntimeError):
        torch.ones(2) + torch.ones(3)
    assert seen.events[-1] == ("end aten::add.Tensor", None)


def test_an_observer_s_error_ends_the_op() -> None:
    with Seen(broken="aten::exp") as seen, pytest.raises(KeyError, match="aten::exp"):
        torch.ones(1).exp()
    assert [name for name, _ in seen.events][-1] == "aten::exp"
    assert torch.ones(1).exp().item() > 2


def test_nothing_is_seen_outside() -> None:
    with Seen() as seen:
        pass
    torch.ones(1).exp()
    assert not seen.events


def test_what_schemas_say() -> None:
    assert op_info("aten::add.Tensor").arguments == ("self", "other", "alpha")
    assert op_info("aten::copy_").overwritten == {0} and not op_info("aten::add_.Tensor").overwritten
    assert op_info("aten::view").is_view and not op_info("aten::add_.Tensor").is_view
    assert op_info("aten::empty_like").is_uninitialized and not op_info("aten::ones").is_uninitialized


def test_the_lines_that_called() -> None:
    import inspect

    lines = calling_lines(inspect.currentframe())
    assert lines.user is not None and lines.user.file == __file__ and lines.inner == lines.user
    assert lines.user.source == "lines = calling_lines(inspect.currentframe())"
    assert lines.user.place.endswith(f"test_ops.py:{lines.user.number}")
