"""The profiler of loops: schedules, traces, and what both libraries call the same.

Mirrors: test/profiler/test_profiler.py
"""

import itertools
import json
import warnings

import pytest

import reftorch as torch
from reftorch.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler
from tests.answers.watched import asked


def work():
    return torch.ones(1000).add(1)


SCHEDULES = [
    dict(zip(("wait", "warmup", "active", "repeat", "skip_first", "skip_first_wait"), values, strict=True))
    for values in itertools.product((0, 2), (0, 1), (1, 3), (0, 1, 2), (0, 4), (0, 1))
]


def test_schedules(real_torch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for options in SCHEDULES:
            ours, theirs = schedule(**options), real_torch.profiler.schedule(**options)
            assert [ours(i).name for i in range(30)] == [theirs(i).name for i in range(30)], options


@pytest.mark.parametrize("options", SCHEDULES[::7], ids=str)
def test_what_is_handed_on(options, real_torch):
    def names_by_trace(lib):
        traces = []

        def ready(prof):
            traces.append((prof.step_num, sorted({e.key for e in prof.key_averages() if "ProfilerStep" in e.key})))

        with lib.profiler.profile(
            activities=[lib.profiler.ProfilerActivity.CPU],
            schedule=lib.profiler.schedule(**options),
            on_trace_ready=ready,
        ) as prof:
            for _ in range(12):
                lib.ones(2).add(1)
                prof.step()
        return traces

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = names_by_trace(torch), asked(real_torch, names_by_trace)
    assert [step for step, _ in ours] == [step for step, _ in theirs]
    assert [names for _, names in ours] == [names for _, names in theirs]


def test_everything_inside_is_recorded():
    handed = []
    with profile(on_trace_ready=handed.append, record_shapes=True, profile_memory=True) as prof:
        work()
        with record_function("twice"):
            work()
            work()
    assert handed == [prof]
    averages = {e.key: e for e in prof.key_averages()}
    assert averages["aten::add"].count == 3
    assert averages["twice"].count == 1
    assert averages["aten::add"].cpu_memory_usage >= 3 * 4 * 1000
    assert "Input Shapes" in prof.key_averages(group_by_input_shape=True).table()
    assert "Self CPU time total" in prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=2)


def test_former_cycles_are_kept_on_demand():
    counts = {}
    for acc_events in (False, True):
        with profile(schedule=schedule(wait=0, warmup=1, active=1), acc_events=acc_events) as prof:
            for _ in range(4):
                work()
                prof.step()
        counts[acc_events] = sum(e.key == "aten::add" for e in prof.events())
    assert counts == {False: 1, True: 2}


def test_traces_in_files(tmp_path):
    handler = tensorboard_trace_handler(str(tmp_path / "traces"), "me")
    with profile(schedule=schedule(wait=0, warmup=1, active=1), on_trace_ready=handler) as prof:
        prof.add_metadata("name", "mine")
        prof.add_metadata_json("sizes", "[1, 2]")
        for _ in range(4):
            work()
            prof.step()
    files = sorted((tmp_path / "traces").iterdir())
    assert len(files) == 2
    assert all(file.name.startswith("me.") and file.name.endswith(".pt.trace.json") for file in files)
    trace = json.loads(files[0].read_text())
    assert (trace["name"], trace["sizes"]) == ("mine", [1, 2])
    assert {"aten::add", "ProfilerStep#1"} <= {event["name"] for event in trace["traceEvents"]}


def test_a_schedule_that_drops_its_trace_warns():
    actions = [torch.profiler.ProfilerAction.RECORD, torch.profiler.ProfilerAction.NONE]
    with profile(schedule=actions.__getitem__) as prof:
        work()
        with pytest.warns(UserWarning, match="Incorrect schedule: RECORD followed by NONE"):
            prof.step()
    assert prof.events()


ERRORS = {
    "twice": (lambda: profile(activities=[ProfilerActivity.CPU] * 2), ValueError, "specified more than once"),
    "no activity": (lambda: profile(activities=["CPU"]), TypeError, "Expected ProfilerActivity"),
    "no XPU": (lambda: profile(activities=[ProfilerActivity.XPU]), NotImplementedError, "there is no XPU"),
    "unknown": (lambda: profile(experimental_config=1), NotImplementedError, "experimental_config is not supported"),
    "no stacks": (lambda: profile().export_stacks("nowhere"), AssertionError, "requires with_stack=True"),
    "no trace": (lambda: profile().key_averages(), AssertionError, "Profiler must be initialized"),
    "schedule": (lambda: schedule(wait=0, warmup=1, active=0), AssertionError, "Invalid profiler schedule"),
    "step": (lambda: schedule(wait=0, warmup=1, active=1)(-1), AssertionError, "Step must be non-negative"),
    "gzip": (lambda: tensorboard_trace_handler("x", use_gzip=True), NotImplementedError, "use_gzip=True"),
}


@pytest.mark.parametrize(("call", "error", "message"), ERRORS.values(), ids=ERRORS)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_too_early():
    with profile() as prof, pytest.raises(AssertionError, match="did not finish"):
        prof.events()


def test_names():
    assert torch.profiler.supported_activities() == {ProfilerActivity.CPU}
    assert not torch.profiler.kineto_available()
    with pytest.warns(UserWarning, match="won't be using warmup"):
        schedule(wait=0, warmup=0, active=1)
