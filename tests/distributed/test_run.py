"""The launcher: programs in several processes, their failures, their output, and that nothing is left of them.

Mirrors: test/distributed/launcher/test_run.py
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reftorch.debug.core.find_gdb import candidates, probe
from reftorch.distributed.run import determine_local_world_size, parse_args
from tests.csrc.distributed.c10d.test_stores import free_port

GDBS = [path for path in candidates() if not isinstance(probe(path), str)]
RUN = [sys.executable, "-m", "reftorch.distributed.run"]


def launch(
    *arguments: str, timeout: float = 90, start: list[str] = RUN, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*start, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.fixture
def program(tmp_path: Path) -> str:
    """A program that does what its first argument says."""
    path = tmp_path / "train.py"
    path.write_text(
        """
import os, signal, sys, time
import reftorch as torch
import reftorch.distributed as dist

what, rank, attempt = sys.argv[1], int(os.environ["RANK"]), int(os.environ["TORCHELASTIC_RESTART_COUNT"])
dist.init_process_group("gloo")
tensor = torch.ones(1) * (rank + 1)
dist.all_reduce(tensor)
assert dist.is_torchelastic_launched() and dist.get_node_local_rank() == rank % int(os.environ["LOCAL_WORLD_SIZE"])
# In one piece: the lines of two ranks must not mix.
sys.stdout.write(f"rank {rank} of {dist.get_world_size()}: {tensor.item()} attempt {attempt} {sys.argv[2:]}\\n")
if rank == 1 and (what == "fail" or what == "fail once" and attempt == 0):
    raise ValueError("rank 1 does not want to")
if rank == 1 and what == "die":
    os.kill(os.getpid(), signal.SIGKILL)
if what != "end":
    dist.all_reduce(tensor)  # the other rank waits here
    time.sleep(60 if what == "sleep" else 0)
dist.destroy_process_group()
"""
    )
    return str(path)


def test_two_processes_work_together(program: str, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    done = launch(
        "--standalone", "--nproc-per-node", "2", "--log-dir", str(logs), "-t", "1", program, "end", "x", "--flag"
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [
        f"[default{rank}]:rank {rank} of 2: 3.0 attempt 0 ['x', '--flag']" for rank in range(2)
    ]
    [log] = logs.glob("*/attempt_0/1/stdout.log")
    assert log.read_text() == "rank 1 of 2: 3.0 attempt 0 ['x', '--flag']\n"


def test_the_failure_that_came_first_is_told_first(program: str) -> None:
    done = launch("--standalone", "--nproc-per-node=2", program, "fail")
    assert done.returncode == 1
    report = done.stderr[done.stderr.index("=====") :]
    first, _, rest = report.partition("Other failure")
    assert "Root Cause (first observed failure): rank 1 (local_rank: 1" in first and "exit code 1" in first
    assert "ValueError: rank 1 does not want to" in first and "in <module>" in first
    assert "rank 0" in rest and "rank 1 has ended, or has failed before" in rest


def test_a_rank_that_was_killed_comes_before_its_victims(program: str) -> None:
    begin = time.monotonic()
    done = launch("--standalone", "--nproc-per-node=2", program, "die")
    assert done.returncode == 1 and time.monotonic() - begin < 60
    assert "Root Cause (first observed failure): rank 1" in done.stderr and "died of signal 9 (SIGKILL)" in done.stderr


def test_a_restart_starts_all(program: str) -> None:
    done = launch("--standalone", "--nproc-per-node=2", "--max-restarts=1", program, "fail once")
    assert done.returncode == 0, done.stderr
    assert "the workers failed; restart 1 of 1" in done.stderr
    assert done.stdout.count("attempt 0") == 2 and done.stdout.count("attempt 1") == 2


def test_two_machines(program: str) -> None:
    """Both are this one; each has its own launcher."""
    port = str(free_port())
    options = ["--nnodes=2", "--nproc-per-node=1", f"--master-port={port}", "--rdzv-id=job", program, "end"]
    first = subprocess.Popen([*RUN, "--node-rank=0", *options], stdout=subprocess.PIPE, text=True)
    second = launch("--node-rank=1", *options)
    said, _ = first.communicate(timeout=60)
    assert (first.returncode, second.returncode) == (0, 0), second.stderr
    assert said == "rank 0 of 2: 3.0 attempt 0 []\n" and second.stdout == "rank 1 of 2: 3.0 attempt 0 []\n"


def children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                    found.append(int(entry.name))
            except (OSError, ValueError):
                pass
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_process_is_left_when_the_launcher_ends(number: signal.Signals, program: str) -> None:
    agent = subprocess.Popen(
        [*RUN, "--standalone", "--nproc-per-node=2", program, "sleep"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert agent.stdout is not None and agent.stderr is not None
    assert [agent.stdout.readline()[:5], agent.stdout.readline()[:5]] == ["rank ", "rank "]
    workers = children(agent.pid)
    assert len(workers) == 2
    agent.send_signal(number)
    _, errors = agent.communicate(timeout=60)
    assert agent.returncode == (-9 if number == signal.SIGKILL else 128 + number)
    if number == signal.SIGTERM:
        assert "got signal SIGTERM; the processes have been ended" in errors
    deadline = time.monotonic() + 20
    while any(map(is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_alive, workers))


def test_a_program_that_says_torch_stays_with_reftorch(tmp_path: Path) -> None:
    path = tmp_path / "says_torch.py"
    path.write_text(
        "import torch, torch.distributed as dist\n"
        "dist.init_process_group('gloo')\n"
        "x = torch.ones(1); dist.all_reduce(x)\n"
        "import sys; sys.stdout.write(f'{torch.__version__} {x.item()}\\n'); dist.destroy_process_group()\n"
    )
    start = [sys.executable, "-m", "reftorch", "-m", "torch.distributed.run"]
    done = launch("--standalone", "--nproc-per-node=2", str(path), start=start)
    assert done.returncode == 0, done.stderr
    assert [("+reftorch" in line, line.split()[1]) for line in done.stdout.splitlines()] == [(True, "2.0")] * 2


def test_the_old_name_gives_the_number_as_an_argument(tmp_path: Path) -> None:
    path = tmp_path / "old.py"
    path.write_text("import sys, os; print(sys.argv[1:], os.environ['LOCAL_RANK'])")
    start = [sys.executable, "-m", "reftorch.distributed.launch"]
    done = launch("--standalone", "--nproc-per-node=1", str(path), "--x", start=start)
    assert done.stdout == "['--local-rank=0', '--x'] 0\n" and "FutureWarning" in done.stderr
    done = launch("--standalone", "--use-env", str(path), start=start)
    assert done.stdout == "[] 0\n"


def test_options() -> None:
    options = parse_args(["--nproc_per_node", "2", "--nnodes=3", "-r", "3", "-m", "package.train", "--epochs", "3"])
    assert (options.nproc_per_node, options.nnodes, options.redirects, options.module) == ("2", 3, "3", True)
    assert options.training_script == "package.train" and options.training_script_args == ["--epochs", "3"]
    assert determine_local_world_size("cpu") == len(os.sched_getaffinity(0))
    for wrong in ("0", "many"):
        with pytest.raises(ValueError, match=f"Unsupported nproc_per_node value: {wrong}"):
            determine_local_world_size(wrong)


def test_variables_stand_for_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PET_NNODES", "4")
    monkeypatch.setenv("PET_STANDALONE", "1")
    assert parse_args(["x.py"]).nnodes == 4 and parse_args(["x.py"]).standalone
    assert parse_args(["--nnodes=2", "x.py"]).nnodes == 2


def test_machines_that_join_and_leave_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_args(["--nnodes", "1:4", "x.py"])
    assert "machines cannot join and leave here" in capsys.readouterr().err


def say_environment(folder: Path) -> str:
    program = folder / "say.py"
    program.write_text(
        "import os, sys\nlifted = os.environ.get('REFTORCH_DISTRIBUTED_NO_TIMEOUTS')\n"
        "sys.stdout.write(f'{sys._xoptions} {lifted}\\n')\n"
    )
    return str(program)


def test_flags_of_the_interpreter_are_handed_on(tmp_path: Path) -> None:
    start = [sys.executable, "-Xfrozen_modules=off", *RUN[1:]]
    done = launch("--standalone", "--nproc-per-node=2", say_environment(tmp_path), start=start)
    assert done.stdout == "{'frozen_modules': 'off'} None\n" * 2, done.stderr
    assert "time-outs" not in done.stderr


@pytest.mark.skipif(not GDBS, reason="needs a gdb")
def test_time_outs_are_lifted_under_gdb(tmp_path: Path) -> None:
    gdb = [GDBS[0], "-nx", "-q", "-batch", "-ex", "set debuginfod enabled off", "-ex", "run", "--args", *RUN]
    environment = {"PYTHONHOME": "", "PYTHONPATH": ""}
    done = launch("--standalone", "--nproc-per-node=2", say_environment(tmp_path), start=gdb, **environment)
    assert done.stdout.count("{} 1\n") == 2, done.stdout + done.stderr
    assert "[launcher] a debugger is here: the time-outs of groups are lifted" in done.stderr
