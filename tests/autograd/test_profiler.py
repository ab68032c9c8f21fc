"""The profiler: what it sees, how it sums up, and that it lets go.

Mirrors: test/profiler/test_profiler.py, test/test_autograd.py (the profiler tests)
"""

import contextlib
import json
import threading

import pytest

import reftorch as torch
from reftorch.autograd.profiler import profile, record_function
from tests.answers.watched import asked


def names(prof):
    return [event.name for event in prof.function_events]


def program(lib):
    x = lib.ones(3, 4, requires_grad=True)
    with lib.autograd.profiler.profile() as prof:
        (x * 2).sum().backward()
    return {event.name for event in prof.function_events}


def test_every_op_forward_and_backward():
    x = torch.ones(3, requires_grad=True)
    with profile() as prof:
        y = (x * x).sum()
        y.backward()
    assert names(prof)[:2] == ["aten::mul", "aten::sum"]
    (mul,) = [e for e in prof.function_events if e.name == "autograd::engine::evaluate_function: MulBackward0"]
    node = mul.cpu_children[0]  # beside it, what the engine does with its results
    assert node.name == "MulBackward0" and mul.scope == node.scope == 1
    assert [child.name for child in node.cpu_children][:2] == ["aten::mul", "aten::mul"]
    assert all(0 <= e.self_cpu_time_total <= e.cpu_time_total for e in prof.function_events)


def test_a_node_has_the_number_and_the_thread_of_its_op():
    x = torch.ones(3, requires_grad=True)
    with profile() as prof:
        (x * x).sum().backward()
    for op, node in (("aten::mul", "MulBackward0"), ("aten::sum", "SumBackward0")):
        (recorded,) = (e for e in prof.function_events if e.name == op and e.scope == 0 and e.sequence_nr >= 0)
        evaluated, ran = (e for e in prof.function_events if node in e.name)
        assert recorded.sequence_nr == evaluated.sequence_nr == ran.sequence_nr
        assert evaluated.fwd_thread == ran.fwd_thread == recorded.thread and recorded.fwd_thread == 0


def calls_of_a_function(lib):
    class Twice(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad * 2, None

    x = lib.ones(3, 4, requires_grad=True)
    with lib.autograd.profiler.profile(record_shapes=True) as prof:
        y = Twice.apply(x, 2)
        with lib.no_grad():
            Twice.apply(x, 2)
        y.sum().backward()
    recorded, unrecorded = (event for event in prof.function_events if event.name == "Twice")
    (ran,) = (event for event in prof.function_events if event.name == "TwiceBackward")
    assert recorded.sequence_nr == ran.sequence_nr >= 0
    shapes = [shape for shape in recorded.input_shapes if shape]  # torch has an empty one for what is no tensor
    return unrecorded.sequence_nr, shapes, recorded.scope, [child.name for child in recorded.cpu_children]


def test_a_call_of_a_function_of_ones_own_is_an_event(real_torch_or_none):
    ours = calls_of_a_function(torch)
    assert ours == (-1, [[3, 4]], 0, ["aten::mul"])
    if real_torch_or_none is not None:  # which gives the unrecorded call the number of a node that is not made
        assert asked(real_torch_or_none, lambda lib: calls_of_a_function(lib)[1:]) == ours[1:]


def test_the_same_names_as_torch(real_torch):
    engine = "autograd::engine::evaluate_function: "
    names = {"aten::mul", "aten::sum", f"{engine}MulBackward0", f"{engine}SumBackward0", "MulBackward0"}
    assert names <= program(torch) and asked(real_torch, lambda lib: names <= program(lib))


def test_ops_made_of_ops_are_nested():
    x = torch.ones(3, 3)
    with profile() as prof:
        torch.matmul(x, x)
    matmul, mm = prof.function_events
    assert (matmul.name, mm.name) == ("aten::matmul", "aten::mm") and mm.cpu_parent is matmul


def test_record_function():
    @record_function("decorated")
    def add(x):
        return x + 1

    x = torch.ones(2)
    with profile() as prof, record_function("outer"):
        add(x)
    outer, decorated, op = prof.function_events
    assert [e.name for e in (outer, decorated, op)] == ["outer", "decorated", "aten::add"]
    assert op.cpu_parent is decorated and decorated.cpu_parent is outer
    add(x)  # without a profiler it does nothing


def test_key_averages_and_table():
    x = torch.ones(2, 3)
    with profile(record_shapes=True, profile_memory=True) as prof:
        for _ in range(3):
            x + x
        torch.ones(5) + 1
    averages = {(e.key, str(e.input_shapes)): e for e in prof.key_averages(group_by_input_shape=True)}
    assert averages["aten::add", "[[2, 3], [2, 3]]"].count == 3
    (add,) = [e for e in prof.key_averages() if e.key == "aten::add"]
    assert add.count == 4 and add.cpu_memory_usage > 0
    assert add.cpu_time == pytest.approx(add.cpu_time_total / 4)
    table = prof.key_averages().table(sort_by="cpu_time_total", row_limit=1, header="the header")
    assert "the header" in table and "CPU Mem" in table and "Self CPU time total" in table
    assert len([line for line in table.splitlines() if "aten::" in line]) == 1
    with pytest.raises(AttributeError):
        prof.key_averages().table(sort_by="nothing")


def test_stacks(tmp_path):
    x = torch.ones(2, requires_grad=True)

    def inner():
        return (x * 2).sum()

    with profile(with_stack=True) as prof:
        inner().backward()
    (mul,) = [e for e in prof.function_events if e.name == "aten::mul" and e.scope == 0 and e.cpu_parent is None]
    assert mul.stack[0].endswith("): inner") and mul.stack[1].endswith("): test_stacks")
    (node,) = [e for e in prof.function_events if e.name == "MulBackward0"]
    assert node.stack == mul.stack and node.cpu_children[0].stack == mul.stack
    by_stack = prof.key_averages(group_by_stack_n=1)
    assert len([e for e in by_stack if e.key == "aten::mul"]) == 1 and "inner" in by_stack.table(
        max_src_column_width=None
    )
    assert "inner" not in by_stack.table(max_src_column_width=3) and "Source Location" in by_stack.table()
    assert "Source Location" not in prof.key_averages().table()
    path = tmp_path / "stacks"
    prof.export_stacks(str(path), "self_cpu_time_total")
    assert all(line.rpartition(" ")[2].isdigit() and ";" in line for line in path.read_text().splitlines())
    with pytest.raises(ValueError, match="metric should be one of"):
        prof.export_stacks(str(path), "count")


def flops(lib):
    a, b = lib.ones(3, 4), lib.ones(4, 5)
    batch = lib.ones(2, 3, 4), lib.ones(2, 4, 5)
    conv = lib.nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2)
    with lib.autograd.profiler.profile(with_flops=True) as prof:
        a @ b
        lib.addmm(lib.ones(5), a, b)
        lib.bmm(*batch)
        lib.baddbmm(lib.ones(2, 3, 5), *batch)
        conv(lib.ones(2, 4, 9, 8))
        a + 1
        a * a
        a.exp()
    return {e.key: e.flops for e in prof.key_averages() if e.flops}


def test_flops_are_those_of_torch(real_torch):
    assert flops(torch) == asked(real_torch, flops)


def test_flops_in_a_table():
    with profile(with_flops=True) as prof:
        torch.ones(30, 40) @ torch.ones(40, 50)
        torch.ones(2).exp()
    table = prof.key_averages().table()
    assert "Total KFLOPs" in table and "120.000" in table and "--" in table


def test_options_of_the_table():
    with profile() as prof, record_function("a block whose name is long"):
        torch.ones(2)
    averages = prof.key_averages()
    assert "aten" not in averages.table(top_level_events_only=True)
    assert "a block..." in averages.table(max_name_column_width=10)
    assert "a block whose name is long" in averages.table(max_name_column_width=None)
    lines = averages.table(time_unit="ms").splitlines()
    assert lines[-1].endswith("ms") and "us" not in averages.table(time_unit="ms").replace("time", "")
    with pytest.raises(ValueError, match="time_unit must be one of"):
        averages.table(time_unit="h")


def test_without_cuda_the_device_is_left_out_with_a_warning(monkeypatch):
    monkeypatch.setattr(torch._C, "_cuda_getDeviceCount", lambda: 0, raising=False)
    with pytest.warns(UserWarning, match="CUDA is not available, disabling CUDA profiling"):
        prof = profile(use_cuda=True)
    with prof:
        torch.ones(2)
    assert names(prof) == ["aten::ones"]
    with pytest.warns(UserWarning, match="The tpu is not a valid device option"):
        profile(use_device="tpu")


def test_chrome_trace(tmp_path):
    with profile() as prof, record_function("block"):
        torch.ones(2)
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [e["name"] for e in events] == ["block", "aten::ones"]
    assert events[0]["ts"] <= events[1]["ts"]
    assert events[1]["ts"] + events[1]["dur"] <= events[0]["ts"] + events[0]["dur"]


def test_only_its_own_thread_and_only_inside():
    with profile() as prof:
        thread = threading.Thread(target=lambda: torch.ones(2) + 1)
        thread.start()
        thread.join()
    torch.ones(2)
    assert names(prof) == []


def test_an_error_inside_ends_the_events():
    with pytest.raises(RuntimeError), profile() as prof:
        torch.ones(2) + torch.ones(3)
    assert names(prof)[-1] == "aten::add" and not torch._C._autograd._profiler_enabled()


def test_wrong_use():
    with pytest.raises(RuntimeError, match="runs already"), profile(), profile():
        pass
    assert not torch._C._autograd._profiler_enabled()
    with pytest.raises(RuntimeError, match="didn't finish"):
        profile().key_averages()
    with pytest.raises(NotImplementedError, match="experimental_config"):
        profile(experimental_config=object())
    with pytest.raises(AssertionError, match="No activities specified"):
        profile(use_cpu=False)
    with profile() as prof:
        pass
    with pytest.raises(AssertionError, match="requires with_stack=True"):
        prof.export_stacks("nowhere")
    with profile(enabled=False) as prof:
        torch.ones(1)
    assert prof.function_events is None


def test_each_op_is_a_range_of_nvtx(monkeypatch):
    ranges: list[str] = []
    monkeypatch.setattr(torch.cuda.nvtx, "range", lambda name: ranges.append(name) or contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: ranges.append("synchronize"))
    for enabled in (False, True):
        with torch.autograd.profiler.emit_nvtx(enabled):
            torch.relu(torch.ones(2))
    assert ranges == ["synchronize", "aten.ones.default", "aten.relu.default", "synchronize"]
