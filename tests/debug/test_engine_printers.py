"""What gdb shows of a backward pass that is stopped: nodes by name in every local of the engine.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: garbage in place of these objects; see fuzz_printers.py.
"""

from __future__ import annotations

import re

import pytest

from tests.debug.test_printers import GDBS, Gdb

PROGRAM = """
import reftorch as torch
a, b = torch.ones(2, 3, requires_grad=True), torch.ones(3, requires_grad=True)
y = (a * b).exp()
z = y.sum() + (y * a).sum()
torch.autograd.grad(z, (a,))
torch._C._debug.sentinel()
(a * 2).sum().backward(retain_graph=True, create_graph=True)
"""
EVALUATE = "break reftorch::torch::autograd::Engine::evaluate_function"
COMMANDS = [
    EVALUATE, "run", "info args", "finish", "info locals", "continue", "continue", "print task", "print inputs",
    "print fn", "print &*fn", "print task.dependencies_", "print task.exec_info_", "print task.nodes_in_graph_",
    "delete", "tbreak reftorch_debug_sentinel", "c", f"{EVALUATE} ", "fg", "print task ",
]  # fmt: skip


@pytest.fixture(scope="module", params=GDBS)
def stopped(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Gdb:
    """In the pass's first node, then back in the loop that runs them, then in its third node; then in another pass."""
    return Gdb(request.param, tmp_path_factory.mktemp("gdb"), PROGRAM, COMMANDS)


def test_the_arguments_of_a_step_name_the_nodes(stopped: Gdb) -> None:
    lines = dict(line.split(" = ", 1) for line in stopped["info args"].splitlines())
    assert lines["fn"] == "AddBackward0 #5"
    assert lines["inputs"] == "[Tensor f32[] strides=[] [1]]"
    assert lines["ready"] == "ReadyQueue []"
    task = lines["task"]
    assert re.match(r"GraphTask \d+; from \[Edge to AddBackward0, input 0\]; gradients still to come {", task)
    waiting = task.partition("gradients still to come {")[2].partition("}")[0]
    for node in ("MulBackward0 #0: 1", "ExpBackward0 #1: 2", "SumBackward0 #2: 1", "MulBackward0 #3: 1"):
        assert node in waiting
    assert re.search(r"AccumulateGrad of f32\[2, 3\] at 0x\w+: 2", waiting)
    assert re.search(r"AccumulateGrad of f32\[3\] at 0x\w+: 1", waiting)
    wanted = task.partition("wanted {")[2].partition("}")[0]
    assert "ExpBackward0 #1: runs" in wanted
    assert re.search(r"AccumulateGrad of f32\[2, 3\] at 0x\w+: its gradient 0 is result 0", wanted)
    assert "f32[3]" not in wanted


def test_the_queue_is_in_the_order_in_which_nodes_run(stopped: Gdb) -> None:
    shown = stopped["info locals"]
    gradient = "[Tensor f32[] strides=[] [1]]"
    assert f"ready = ReadyQueue [SumBackward0 #4 of {gradient}, SumBackward0 #2 of {gradient}]" in shown
    assert f"next = AddBackward0 #5 of {gradient}" in shown


def test_tables_and_pointers_name_the_nodes(stopped: Gdb) -> None:
    assert stopped["print inputs"].endswith("= [Tensor f32[2, 3] strides=[0, 0] [1, 1, 1, 1, 1, 1]]")
    assert stopped["print fn"].endswith("= MulBackward0 #3")
    assert stopped["print &*fn"].endswith("= MulBackward0 #3")
    waiting = stopped["print task.dependencies_"].partition(" = ")[2]
    assert re.fullmatch(r"{.*}", waiting)
    assert "ExpBackward0 #1: 2" in waiting
    assert "SumBackward0 #4: runs" in stopped["print task.exec_info_"]
    assert "SumBackward0 #4, " in stopped["print task.nodes_in_graph_"] + ", "
    assert "SumBackward0 #4" not in stopped["print task"].partition("wanted")[0]


def test_nothing_warns_and_nothing_fails(stopped: Gdb) -> None:
    assert "RTTI symbol not found" not in stopped.all
    assert "Python Exception" not in stopped.all
    assert "Traceback" not in stopped.all


def test_a_pass_says_what_it_keeps(stopped: Gdb) -> None:
    shown = stopped["print task "]
    assert re.search(r"= GraphTask \d+ keep_graph create_graph; ", shown), stopped.all
    assert "wanted" not in shown
