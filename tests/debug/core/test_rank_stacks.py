"""``rank_stacks``: ranks that are threads or processes, that wait, stand still, or do not answer; and ``rt-bt``.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: ranks on several machines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import reftorch as torch
import reftorch.distributed as dist
from reftorch.debug.common import columns
from reftorch.debug.core import rank_stacks as tool
from reftorch.debug.core.find_gdb import candidates, probe
from reftorch.debug.core.folded_stack import Frame
from reftorch.debug.core.rank_stacks import RankStacks, of_program, rank_stacks
from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
from tests.debug.test_printers import Gdb

ROOT = Path(__file__).resolve().parents[3]
GDBS = [path for path in candidates() if not isinstance(probe(path), str)]
DEBUG_BUILD = "lib/Debug" in str(torch._C.__file__)


def names_of(frames: list[Frame]) -> list[str]:
    """The functions, without the classes and functions around them, which Python 3.10 does not know."""
    return [each.function.rpartition(".")[2] for each in frames]


def wait_for_the_others() -> None:
    dist.all_reduce(torch.ones(4))


def until_they_wait(waiting: int, call: str = "") -> RankStacks:
    """Ask until so many ranks wait in a call of this name."""
    end = time.monotonic() + 30
    while True:
        stacks = rank_stacks(cpp=False)
        doing = [each.doing or "" for each in stacks.ranks]
        if sum(each.startswith("waits in") and call in each for each in doing) == waiting:
            return stacks
        assert time.monotonic() < end, stacks
        time.sleep(0.01)


def of_three(cpp: bool) -> RankStacks:
    @spawn_threads_and_init_comms(world_size=3)
    def program() -> RankStacks | None:
        dist.barrier()
        found = None
        if dist.get_rank() == 1:
            until_they_wait(2, "all_reduce")  # and none is still in the barrier
            found = rank_stacks(cpp=cpp)
        wait_for_the_others()
        return found

    return program()[1]


def test_threads_that_wait_for_one() -> None:
    stacks = of_three(cpp=False)
    assert stacks.notes == ["ranks 0 and 2 wait in #2 all_reduce(SUM) of Float[4], which rank 1 has not called."]
    here = Path(__file__)
    for rank in (0, 2):
        frames = stacks.ranks[rank].frames
        assert names_of(frames) == ["_ended", "all_reduce", "wait_for_the_others", "program"]
        assert (
            frames[-1].file == str(here)
            and "wait_for_the_others()" in here.read_text().split("\n")[frames[-1].line - 1]
        )
    assert names_of(stacks.ranks[1].frames) == ["program"]
    assert (stacks.ranks[1].doing or "").startswith("has ended its last call, #1 barrier at ")
    lines = str(stacks).splitlines()
    assert [cell.strip() for cell in lines[2].split(" | ")] == ["rank 0", "rank 1", "rank 2"]
    assert max(map(len, lines)) <= columns.TEXT_WIDTH
    html = stacks._repr_html_()
    assert html.count("<th") == 3 and "max-width:1000px" in html and html.count("collectives.py:") == 4


@pytest.mark.skipif(not (GDBS and DEBUG_BUILD), reason="C++ frames need gdb and the Debug build")
def test_both_languages() -> None:
    stacks = of_three(cpp=True)
    assert not stacks.notes[1:]
    frames = stacks.ranks[2].frames
    assert frames[0].language == "c++" and frames[0].function == "c10d::Work::wait"
    assert frames[-1].language == "py" and names_of(frames)[-2:] == ["wait_for_the_others", "program"]
    assert all(each.language == "py" for each in stacks.ranks[1].frames)


PROGRAM = """
import os, signal, sys, time
import reftorch as torch, reftorch.distributed as dist
from reftorch.debug import rank_stacks

dist.init_process_group("gloo")
rank, store = dist.get_rank(), dist.distributed_c10d._get_default_store()

def compute():
    dist.all_reduce(torch.ones(2, 3))

def ask(**options):
    stacks = rank_stacks(**options)
    sys.stdout.write(f"== asked\\n{stacks}\\n")
    return stacks

if rank == 0:
    store.set("process", str(os.getpid()))
    compute()
    dist.barrier()
else:
    process = int(store.get("process"))
    while "waits in" not in ask(cpp=False).ranks[0].doing:
        time.sleep(0.05)
    ask(cpp=True)
    os.kill(process, signal.SIGSTOP)
    stopped = ask(cpp=False, timeout=0.5)
    os.kill(process, signal.SIGCONT)
    assert stopped.ranks[0].doing is None and stopped.ranks[1].doing is not None, stopped
    again = ask(cpp=False)
    assert again.ranks[0].frames, "a late answer was taken for one to this question"
    compute()
    dist.barrier()
dist.destroy_process_group()
"""


def test_processes(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "reftorch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {**os.environ, "REFTORCH_ALLOW_PTRACE": "1"}
    done = subprocess.run(
        [*command, str(tmp_path / "train.py")],
        capture_output=True,
        text=True,
        timeout=240,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    *_, both, stopped, again = done.stdout.split("== asked\n")
    assert "rank 0 waits in #1 all_reduce(SUM) of Float[2, 3], which rank 1 has not called." in both
    assert re.search(r"^py +compute ", again, re.MULTILINE), again
    assert "does not answer" in stopped
    if GDBS and DEBUG_BUILD:
        assert re.search(r"^c\+\+ +c10d::Work::wait", both, re.MULTILINE), both


def test_a_group_of_some_ranks() -> None:
    @spawn_threads_and_init_comms(world_size=3)
    def program() -> list[int] | str:
        group = dist.new_group([0, 2])
        if dist.get_rank() == 1:
            with pytest.raises(ValueError, match="not a member of the group"):
                rank_stacks(group)
            return "outside"
        found = [each.rank for each in rank_stacks(group, cpp=False).ranks]
        dist.barrier(group=group)
        return found

    assert program() == [[0, 2], "outside", [0, 2]]


def test_without_a_group() -> None:
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        rank_stacks()


def test_frames_of_debuggers_and_runners_are_left_out() -> None:
    program = [Frame("py", "f", "/x/train.py", 3), Frame("py", "<module>", "/x/train.py", 9)]
    runner = [Frame("py", "run", "/y/runpy.py", 1)]
    held = [
        Frame("c++", "futex_wait", "libc.so.6", 0),
        Frame("py", "wait", "/y/debugpy/_vendored/pydevd/pydevd.py", 1),
        Frame("py", "trace", "/y/_pydevd_bundle/pydevd_frame.py", 2),
    ]
    assert of_program([*held, *program, *runner]) == program
    assert of_program([*program, *runner, *runner]) == program
    assert of_program([]) == []


def test_gdb_and_the_tool_know_the_same_runners() -> None:
    text = (ROOT / "reftorch" / "debug" / "gdb" / "reftorch_gdb" / "stack.py").read_text()
    block = text.partition("RUNNERS = re.compile(")[2].partition("\n)")[0]
    assert "".join(re.findall(r'r"(.*?)"', block)) == tool.RUNNERS.pattern


RING = """
import threading
import reftorch as torch, reftorch.distributed as dist
from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms

@spawn_threads_and_init_comms(world_size=2)
def program():
    dist.all_reduce(torch.ones(2))
    dist.barrier()
    if dist.get_rank() == 1:
        a = torch.ones(2) * torch.ones(2)
    dist.barrier()

program()
"""


@pytest.mark.skipif(not (GDBS and DEBUG_BUILD), reason="this needs gdb and the Debug build")
def test_rt_bt_names_rank_and_group(tmp_path: Path) -> None:
    in_ring = ["set breakpoint pending on", "break reftorch::c10d::gloo::allreduce", "run", "rt-bt", "delete"]
    in_kernel = ["rt-op mul", "continue", "rt-bt ", "info threads"]
    gdb = Gdb(GDBS[0], tmp_path, RING, [*in_ring, *in_kernel])
    assert re.match(r"rank [01] of 2, group default_pg\n#0 +c\+\+", gdb["rt-bt"]), gdb.all
    lines = gdb["rt-bt "].splitlines()
    assert lines[0] == "rank 1 of 2, group default_pg", gdb.all
    assert "mul_kernel" in lines[1] and "program" in lines[-1]
    assert '"pg_gloo"' in gdb.all and '"pg_mailbox"' in gdb.all
