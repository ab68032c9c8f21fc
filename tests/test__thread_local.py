"""What a thread has set goes along to the thread on which a deep backward pass goes on.

Mirrors: nothing in PyTorch: its test_autograd.py looks at some of the modes
"""

from __future__ import annotations

import contextvars
import re
import threading
from pathlib import Path

import pytest

import reftorch as torch
from reftorch import _C
from reftorch._thread_local import ThreadLocal
from reftorch.overrides import TorchFunctionMode

ROOT = Path(__file__).resolve().parent.parent
DEEPER_THAN_A_STACK = 70  # kMaxReentrantDepth is 60

# The variables that a new thread begins anew, each with the reason.
STAYS_BEHIND = {
    "small_objects.cpp: has_ended": "says of one thread that it is ending",
    "small_objects.cpp: owner": "frees the lists of one thread when that thread ends",
    "small_objects.h: small_object_lists": "free memory, which belongs to one thread so that it needs no lock",
    "CPUAllocator.cpp: cache": "free memory, which belongs to one thread so that it needs no lock",
    "CPUAllocator.cpp: ended": "says of one thread that it is ending",
    "CPUAllocator.cpp: owner": "frees the cache of one thread when that thread ends",
    "LongWork.h: LongWork::current_": "points into the stack of a call of this thread, which holds or held the GIL",
    "record_function.cpp: this_thread": "numbers the threads of a profile, and the events open on each",
    "Parallel.cpp: in_region": "says that the thread is a member of a team at work; a new thread is not",
    "Parallel.cpp: is_named": "says that the thread has its name, which a new thread lacks",
    "Parallel.cpp: has_lost_its_team": "says of the thread that forked that OpenMP would wait for its team",
    "call_tree.cpp: state": "the recorder of one thread; each thread has its own tree",
    "call_tree.cpp: busy": "guards the recorder against itself for the time of one report",
    "python_torch_function.cpp: mode_stack": "saved and restored with torch_function_state",
    "saved_variable_hooks.h: SavedTensorDefaultHooks::active_": "follows from the state beside it",
    "variable.h: before_write_hook": "says whether there is a before_write, and is set with it",
    "graph_task.cpp: current_graph_task": "the pass this thread is inside of: Engine::run sets it",
    "graph_task.cpp: current_evaluating_node": "the engine takes it along itself",
    "function.cpp: nodes_to_delete": "points into the stack of a destructor of this thread",
    "engine.cpp: device_thread_queue": "of the device that the thread belongs to; the engine takes it along itself",
    "engine.cpp: nested_passes": "counts the passes on one stack, and a new thread has a new one",
    "CUDAStream.cpp: current_streams": "of a device's stream: the engine sets each node's stream itself",
    "ProcessGroupGloo.cpp: comm_name": "a block of one thread names the collectives that the thread calls",
    "activities.cpp: this_call": "the call of the runtime in which this thread is",
    "activities.cpp: in_call": "the call of the runtime in which this thread is",
    "streams.cpp: current_device": "the simulated driver's own state; the engine sets each node's device itself",
    "streams.cpp: is_worker": "says that the thread is the worker of a simulated stream",
    "graphs.cpp: thread_mode": "the simulated driver's own state, which a thread sets for its own calls",
    "streams.cpp: last_error": "the simulated driver's own state, which a thread reads after its own calls",
    "runtime.h: current_device": "declares the variable of streams.cpp",
    "runtime.h: last_error": "declares the variable of streams.cpp",
    "blocks.cpp: this_block": "the simulated block that one thread runs",
    "output.cpp: printed": "what the simulated block of one thread has printed",
    "NCCLSimulator.cpp: group": "the messages between two calls of one thread, ncclGroupStart and ncclGroupEnd",
    "blocks.cpp: random": "the order in which one thread runs the simulated threads of a block",
    "python_gil.h: main_thread_state": "says which thread is the main thread",
    "python_thread_local_state.cpp: thread": "keeps Python's state of a thread alive until the thread ends",
}
PYTHON_STAYS_BEHIND = {
    "reftorch/_thread_local.py": "defines the class that goes along",
    "reftorch/multiprocessing/reductions.py": "the message that one call of this thread pickles or reads",
}


def thread_local_variables() -> set[str]:
    """``file: variable`` for each thread_local variable that the C++ sources define."""
    found = set()
    for path in sorted((ROOT / "cpp").rglob("*")):
        if path.suffix not in (".h", ".cpp", ".cu", ".cuh"):
            continue
        owner = ""
        for line in path.read_text().splitlines():
            code = line.split("//")[0]
            if opened := re.match(r"(?:class|struct)\s+(?:[A-Z_0-9]+\s+)?(\w+)[^;]*\{", code):
                owner = opened.group(1)
            if "thread_local" not in code.split() or code.startswith("#define"):
                continue
            # `static thread_local T name = ...;`, also where T is a pointer to a function.
            declared = re.search(r"\(\*(\w+)\)", code) or re.search(r"(\w+)\s*(?:=[^=].*)?[;{]?\s*$", code)
            assert declared is not None, f"{path.name}: {line}"
            inside = code.startswith(" ") and "static inline" in code
            found.add(f"{path.name}: {owner + '::' if inside else ''}{declared.group(1)}")
    return found


def registered_variables() -> set[str]:
    sources = "\n".join(path.read_text() for path in (ROOT / "cpp").rglob("*.cpp"))
    return set(re.findall(r"RegisterThreadLocal<[^;]*?\"([^\"]+)\"\);", sources))


def test_every_thread_local_variable_goes_along_or_says_why_it_stays():
    variables, registered = thread_local_variables(), registered_variables()
    assert len(variables) > 20, "the search finds too few"
    assert len(registered) > 8, "the search finds too few"
    assert sorted(variables - registered - set(STAYS_BEHIND)) == []
    assert sorted(set(STAYS_BEHIND) - variables) == [], "no longer there"
    assert sorted(registered & set(STAYS_BEHIND)) == []
    assert sorted(registered - variables - {"reftorch/_thread_local.py"}) == [], "registered under another name"


def test_every_thread_local_object_of_python_goes_along():
    plain = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "reftorch").rglob("*.py")
        if re.search(r"threading\.local|_threading_local|import local\b", path.read_text())
    }
    assert sorted(plain - set(PYTHON_STAYS_BEHIND)) == [], "use reftorch._thread_local.ThreadLocal"


def run_backward(y):
    """``y.backward()``, past torch_function: a mode is off while it answers, and it would answer for backward()."""
    _C._run_backward((y,), (torch.ones(1),), False, False, (), allow_unreachable=True, accumulate_grad=True)


class Deeper(torch.autograd.Function):
    """Runs a pass inside of its backward, as deep as asked, and calls ``at_the_bottom`` there."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, depth, at_the_bottom):
        return x * 1

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.depth, ctx.at_the_bottom = inputs

    @staticmethod
    def backward(ctx, grad):
        if ctx.depth == 0:
            ctx.at_the_bottom()
        else:
            with torch.enable_grad():
                inner = torch.ones(1, requires_grad=True)
                run_backward(Deeper.apply(inner, ctx.depth - 1, ctx.at_the_bottom))
        return grad, None, None


def at_the_bottom(ask):
    """What ``ask()`` returns inside of passes that went on on another thread."""
    answers = []

    def note():
        answers.append((threading.get_ident(), ask()))

    run_backward(Deeper.apply(torch.ones(1, requires_grad=True), DEEPER_THAN_A_STACK, note))
    ((thread, answer),) = answers
    assert thread != threading.get_ident(), "the passes were to go on on a thread of their own"
    return answer


class Mode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class Values(ThreadLocal):
    number = 0


values = Values()
context = contextvars.ContextVar("context", default="nothing")


def test_modes_go_along():
    with torch.autograd.set_multithreading_enabled(False), torch.inference_mode(False):
        assert at_the_bottom(_C._is_multithreading_enabled) is False
    assert at_the_bottom(_C._is_multithreading_enabled) is True
    with torch.autograd.forward_ad._set_fwd_grad_enabled(False):
        assert at_the_bottom(torch._C._is_fwd_grad_enabled) is False
    with Mode() as mode:
        assert at_the_bottom(lambda: torch.overrides._get_current_function_mode()) is mode
    assert at_the_bottom(lambda: torch.overrides._get_current_function_mode()) is None


def test_python_s_own_values_go_along_and_come_not_back():
    values.number = 7
    token = context.set("outer")

    def look():
        seen = values.number, context.get()
        values.number = 8
        context.set("inner")
        return seen

    try:
        assert at_the_bottom(look) == (7, "outer")
        assert (values.number, context.get()) == (7, "outer")
    finally:
        values.number = 0
        context.reset(token)


def test_a_new_python_thread_begins_with_nothing():
    values.number = 7
    seen = []
    thread = threading.Thread(target=lambda: seen.append(values.number))
    thread.start()
    thread.join()
    values.number = 0
    assert seen == [0]


@pytest.mark.parametrize("depth", [3, DEEPER_THAN_A_STACK])
def test_nested_passes_under_vmap(depth):
    """The new thread knew the included key of vmap and not the layer, and sent each op in a circle for ever."""

    def deep(x):
        run_backward(Deeper.apply(torch.ones(1, requires_grad=True), depth, lambda: out.append((x * 2).sum())))
        return x * 1

    out = []
    rows = torch.func.vmap(deep)(torch.arange(6.0).view(2, 3))
    assert rows.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert len(out) == 1


def test_the_frame_of_a_checkpoint_and_the_default_device_go_along():
    with torch.device("cpu:0"):
        assert str(at_the_bottom(torch.get_default_device)) == "cpu:0"
