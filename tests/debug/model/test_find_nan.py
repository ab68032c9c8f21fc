"""The first NaN or infinity is found, with the op, the module and the line that called it.

Mirrors: test/test_autograd.py (the tests of anomaly mode), for backward
"""

import inspect
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import reftorch as torch
from reftorch.autograd.profiler import profile
from reftorch.debug import NonFinite, find_nan
from reftorch.debug.model.find_nan import NonFiniteOp

NAN, INF = float("nan"), float("inf")


class Log(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.log()


class Root(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sqrt()


def net(*middle: torch.nn.Module) -> torch.nn.Module:
    """0: Linear that makes all -1; 1: Sequential of what is given; 2: Linear, which adds and halves."""
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sequential(*middle), torch.nn.Linear(2, 1))
    model[0].weight.data.zero_()
    model[0].bias.data.fill_(-1.0)
    model[2].weight.data.fill_(0.5)  # nothing is drawn: one test multiplies the output by nearly the largest float
    model[2].bias.data.zero_()
    return model


def first(found: find_nan) -> NonFiniteOp:
    assert found.first is not None
    return found.first


def here() -> int:
    """The line that called it."""
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    return frame.f_back.f_lineno


def test_forward_in_a_module() -> None:
    model = net(torch.nn.Tanh(), Log())
    with find_nan(model) as found:
        model(torch.ones(3, 2))
    finding = first(found)
    assert (finding.kind, finding.how, finding.op, finding.module) == ("NaN", "made", "aten::log", "1.1")
    assert finding.lines is not None and finding.lines.user is not None
    assert finding.lines.user.source == "return x.log()" and finding.lines.user.file == __file__
    text = str(found)
    assert text.startswith("first NaN: made by aten::log, forward in module '1.1'")
    assert "self       [3, 2] float32, from -0.761594 to -0.761594" in text
    assert "6 of 6 NaN, the first at [0, 0]" in text


def test_backward_with_the_lines_of_formula_and_forward() -> None:
    model = net(Root())
    model[0].bias.data.zero_()
    with find_nan(model) as found:
        loss = model(torch.ones(3, 2)).sum()
        line = here() + 1
        loss.backward()
    finding = first(found)
    assert (finding.kind, finding.backward, finding.module) == ("Inf", "SqrtBackward0", "1.0")
    assert finding.lines is not None and finding.lines.user is not None and finding.forward is not None
    assert finding.lines.inner.place.startswith("reftorch/autograd/derivatives/unary_ops.py:")
    assert finding.lines.user.number == line and finding.forward.source == "return x.sqrt()"
    assert "backward, SqrtBackward0 in module '1.0'" in str(found)


def test_nan_of_an_infinity() -> None:
    x = torch.zeros(1, requires_grad=True)
    with find_nan(inf=False) as found:
        (x.sqrt() * 0).sum().backward()
    finding = first(found)
    assert finding.kind == "NaN" and finding.backward == "SqrtBackward0"

    with find_nan(inf=False) as found:
        y = torch.tensor([1e30]) * torch.tensor([1e30])
        y - y
    assert first(found).op == "aten::sub.Tensor"
    assert any("was made by aten::mul.Tensor at" in text for _, text in first(found).details)


def test_the_parameter_whose_gradient_it_is() -> None:
    model = net()
    with find_nan(model) as found:
        model[2].weight.register_hook(lambda grad: grad * INF)
        model(torch.ones(1, 2)).sum().backward()
        assert found.first is None  # an infinity that the program put there itself
        model[2].bias.grad.fill_(1e38)
        (model(torch.ones(1, 2)) * 3e38).sum().backward()
    assert first(found).backward == "AccumulateGrad of 2.bias"


NOTHING: dict[str, Callable] = {
    "a mask": lambda: torch.zeros(2, 2).masked_fill(torch.ones(2, 2).triu(1).bool(), -INF).softmax(-1),
    "an infinity in the data": lambda: torch.tensor([INF, 1.0]).clamp(max=3.0) * 2,
    "memory that nobody wrote": lambda: torch.empty(10000)[5:].fill_(1.0).sum(),
    "integers": lambda: torch.arange(3) // 2,
    "inside only": lambda: torch.where(torch.tensor([True]), torch.zeros(1), torch.ones(1)),
    "an op that fails": lambda: fails(lambda: torch.ones(2) + torch.ones(3)),
}


def fails(call: Callable) -> None:
    with pytest.raises(RuntimeError):
        call()


@pytest.mark.parametrize("case", NOTHING)
def test_no_finding(case: str) -> None:
    filled = torch.full((10000,), NAN)
    del filled  # the allocator gives that memory to the next tensor of its size
    with find_nan() as found:
        NOTHING[case]()
    assert found.first is None and str(found) == "no NaN and no Inf was made"


def test_what_came_in() -> None:
    model = net()
    with find_nan(model) as found:
        model(torch.tensor([[1.0, NAN]]))
    finding = first(found)
    assert (finding.how, finding.op, finding.module) == ("came in", "aten::linear", "0")
    assert ("it came as", "argument input") in finding.details


def test_what_was_there_before() -> None:
    model = net()
    model[2].weight.data[0, 1] = NAN
    with find_nan(model) as found:
        pass
    assert str(found).startswith("first NaN: it was there before, in '2.weight'")
    model = net()
    model(torch.ones(1, 2)).sum().backward()
    model[0].bias.grad.fill_(INF)
    with find_nan(model) as found:
        pass
    assert first(found).details[0][0] == "0.bias.grad"


def test_the_op_inside_a_composite_one() -> None:
    with find_nan() as found:
        torch.nn.functional.cross_entropy(torch.tensor([[INF, 0.0]]), torch.tensor([0]))
    assert (first(found).op, first(found).inside) == ("aten::cross_entropy_loss", "aten::_log_softmax")


def test_ops_in_place() -> None:
    x = torch.tensor([1.0, 0.0])
    with find_nan() as found:
        x.log_()
    assert (first(found).op, first(found).kind) == ("aten::log_", "Inf")
    assert any("from 0 to 1" in text for _, text in first(found).details)  # as it was before


def test_under_a_function_transform() -> None:
    with find_nan() as found:
        torch.func.vmap(torch.log)(torch.tensor([1.0, 0.0]))
    assert first(found).op == "aten::log"


def test_stop_raises_where_it_happens() -> None:
    reached = []
    with pytest.raises(NonFinite, match="made by aten::log"), find_nan(stop=True):
        reached.append(torch.zeros(1).log())
    assert not reached
    x = torch.zeros(1, requires_grad=True)
    with pytest.raises(NonFinite, match="SqrtBackward0"), find_nan(stop=True):
        x.sqrt().backward()
    assert (torch.ones(1) + 1).item() == 2.0  # nobody watches any more


def test_a_node_of_before_has_no_line() -> None:
    y = torch.zeros(1, requires_grad=True).sqrt()
    with find_nan() as found:
        y.backward()
    assert first(found).forward is None and first(found).backward == "SqrtBackward0"


def in_a_thread(work: Callable) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_threads_that_start_in_the_block_are_watched() -> None:
    start = threading.Thread.start
    with find_nan() as found:
        in_a_thread(lambda: Log()(torch.zeros(1) - 1))
    assert (first(found).op, first(found).module) == ("aten::log", "Log")
    assert threading.Thread.start is start
    with find_nan() as found, ThreadPoolExecutor(1) as pool:
        pool.submit(in_a_thread, lambda: torch.zeros(1).log()).result()
    assert first(found).op == "aten::log"


def test_a_thread_is_watched_until_the_block_ends() -> None:
    ready, go, ended = threading.Event(), threading.Event(), []

    def work() -> None:
        torch.ones(1)
        ready.set()
        go.wait()
        torch.zeros(1).log()
        with find_nan() as own:  # this thread is free again
            torch.zeros(1).log()
        ended.append(own.first)

    with find_nan() as found:
        thread = threading.Thread(target=work)
        thread.start()
        ready.wait()
    go.set()
    thread.join()
    assert found.first is None and ended[0].op == "aten::log"


def test_threads_of_other_threads_are_not_watched() -> None:
    inside, done = threading.Event(), threading.Event()

    def watch() -> None:
        with find_nan() as found:
            inside.set()
            done.wait()
        assert found.first is None

    watcher = threading.Thread(target=watch)
    watcher.start()
    inside.wait()
    in_a_thread(lambda: torch.zeros(1).log())
    done.set()
    watcher.join()


def test_what_an_op_writes_counts_beside_its_results() -> None:
    parameter = torch.nn.Parameter(torch.ones(1))
    parameter.grad = torch.tensor([INF])
    with find_nan() as found:
        torch.optim.Adam([parameter]).step()
    assert (first(found).op, first(found).kind) == ("aten::_fused_adam_", "NaN")
    assert ("self, written/0", "[1] float32, nan") in first(found).details

    out = torch.ones(1)
    with find_nan() as found:
        torch.log(torch.tensor([-1.0]), out=out)
    assert first(found).op == "aten::log.out" and first(found).kind == "NaN"


def test_it_says_so_where_there_was_nothing_to_look_at() -> None:
    with find_nan() as found:
        pass
    assert str(found) == "nothing was looked at: no op ran that makes or changes a tensor"
    model = torch.nn.Linear(2, 2, device="meta")
    with find_nan(model) as found:
        model(torch.ones(1, 2, device="meta"))
    assert found.first is None and str(found).startswith("nothing was looked at: ") and "on meta" in str(found)
    with find_nan() as found:
        torch.ones(1)
    assert str(found) == "no NaN and no Inf was made" and found.looked_at == 1


def test_a_lazy_model_runs() -> None:
    model = torch.nn.Sequential(torch.nn.LazyLinear(2), torch.nn.Hardtanh(-2.0, -1.0), Log())
    with find_nan(model) as found:
        model(torch.zeros(1, 3))
    assert first(found).module == "2"


def test_one_observer_at_a_time() -> None:
    with find_nan(), pytest.raises(RuntimeError, match="another tool does already"):
        find_nan().__enter__()
    with find_nan(), pytest.raises(RuntimeError, match="debugging tool observes"):
        profile().__enter__()
    with profile(), pytest.raises(RuntimeError, match="profiler runs"):
        find_nan().__enter__()
    with profile() as measured:
        torch.ones(1)
    assert measured.function_events


def test_modules_without_a_model_go_by_their_class() -> None:
    with find_nan() as found:
        Log()(torch.zeros(1))
    assert first(found).module == "Log"
