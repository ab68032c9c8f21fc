"""Every op is seen, with its arguments and its results, forward and backward.

Mirrors: test/profiler/test_record_function.py
"""

import contextlib
import gc
import random
import threading
from typing import Any

import pytest

import reftorch as torch
from reftorch.debug.common.op_info import op_info
from reftorch.debug.common.ops import Observer, calling_lines


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


def test_ops_say_at_their_registration_that_old_elements_do_not_matter() -> None:
    schemas = [s for s in torch._C._get_all_op_schemas() if "/cpp/" in s["file"]]  # others are of tests' extensions
    overwrite = {
        s["name"].split(".")[0] for s in schemas if torch._C.Tag.overwrites in torch._C._dispatch_tags(s["name"])
    }
    assert overwrite == {
        f"aten::{name}_"
        for name in ("copy", "fill", "zero", "normal", "uniform", "random", "bernoulli", "exponential", "geometric",
                     "cauchy", "log_normal")
    }  # fmt: skip
    nothing_known = {s["name"] for s in schemas if op_info(s["name"]).is_uninitialized}
    assert nothing_known == {
        f"aten::{name}"
        for name in ("empty", "empty.out", "empty_strided", "empty_like", "empty_permuted", "new_empty",
                     "new_empty_strided", "resize_", "resize_as_")
    }  # fmt: skip
    assert op_info("aten::mul.Tensor_out").overwritten == {2} and op_info("aten::uniform_").overwritten == {0}


def test_the_lines_that_called() -> None:
    import inspect

    lines = calling_lines(inspect.currentframe())
    assert lines.user is not None and lines.user.file == __file__ and lines.inner == lines.user
    assert lines.user.source == "lines = calling_lines(inspect.currentframe())"
    assert lines.user.place.endswith(f"test_ops.py:{lines.user.number}")


def loss(x: torch.Tensor) -> torch.Tensor:
    h = (x @ x).sin()
    h.register_hook(lambda grad: grad * 2)
    return h.clone().mul_(2).sum()


def test_each_thread_has_its_own_observer() -> None:
    """Another thread can neither see this thread's ops, nor take its observer away while an op runs."""
    both_observe = threading.Barrier(2)
    seen: list[list[str]] = []

    def observe(function: Any) -> None:
        with Seen() as log:
            both_observe.wait()
            function()
        seen.append([name for name, _ in log.events])

    x = torch.ones(2, 2, requires_grad=True)
    other = threading.Thread(target=observe, args=(lambda: torch.ones(1).exp(),))
    other.start()
    observe(lambda: loss(x).backward())
    other.join()
    assert "aten::exp" in seen[0] + seen[1]
    for names in seen:
        assert ("aten::exp" in names) != ("aten::mm" in names)


def test_another_thread_cannot_end_an_observer() -> None:
    with Seen() as seen:
        thread = threading.Thread(target=seen.look_away)
        thread.start()
        thread.join()
        torch.ones(1).exp()
    assert "aten::exp" in [name for name, _ in seen.events]


class Restless(Observer):
    """Does at random what an observer may do: keeps tensors, collects garbage, runs a pass, raises, ends itself."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.kept: list[Any] = []

    def act(self, values: tuple | None) -> None:
        action = self.draw.randrange(40)
        if action == 0:
            self.kept.clear()
        elif action == 1:
            gc.collect()
        elif action == 2:
            self.look_away()
        elif action == 3:
            raise KeyError("restless")
        elif action == 4:
            with contextlib.suppress(RuntimeError):  # an op inside of an op is not recorded, and then h takes no hook
                loss(torch.ones(2, 2, requires_grad=True)).backward()
        elif action == 5:
            with contextlib.suppress(RuntimeError):  # it observes already, unless it has ended itself
                self.observe()
        elif action < 10:
            self.kept.append(values)

    def start(self, op: str, arguments: tuple) -> None:
        self.act(arguments)

    def end(self, op: str, results: tuple | None) -> None:
        self.act(results)


def test_a_backward_pass_survives_its_observer() -> None:
    wrong = []

    def work(seed: int) -> None:
        draw = random.Random(seed)
        for _ in range(25):
            x = torch.ones(2, 2, requires_grad=True)
            restless = Restless(draw)
            try:
                restless.observe()
                loss(x).backward()
            except KeyError:
                pass
            except Exception as error:
                wrong.append(error)
            finally:
                restless.look_away()

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    x = torch.ones(2, 2, requires_grad=True)
    loss(x).backward()
    assert x.grad is not None
