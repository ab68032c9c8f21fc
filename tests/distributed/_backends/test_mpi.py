"""Backend mpi under mpiexec, where mpi4py and an MPI library are installed.

Mirrors: test/distributed/test_c10d_spawn.py
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import reftorch.distributed as dist

ROOT = Path(__file__).resolve().parents[3]
HAS_MPI4PY = importlib.util.find_spec("mpi4py") is not None
# The wheels put mpiexec beside python, which need not be on the PATH.
MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
with_mpi = pytest.mark.skipif(
    not HAS_MPI4PY or MPIEXEC is None, reason="needs mpi4py and mpiexec: pip install 'reftorch[distributed]'"
)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    assert MPIEXEC is not None
    program = "tests/distributed/_backends/mpi_program.py"
    return subprocess.run(
        [MPIEXEC, "-n", "3", sys.executable, program, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@with_mpi
def test_each_collective_equals_gloo() -> None:
    done = run()
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {rank} of 3 is done" for rank in range(3)]


@with_mpi
def test_an_exception_ends_the_job() -> None:
    done = run("raise")
    assert done.returncode != 0 and "ValueError: rank 1 does not want to" in done.stderr


@with_mpi
def test_a_rank_that_does_not_come_is_given_up() -> None:
    done = run("late")
    assert done.stdout.count("barrier: timed out after 1 s. Hint: a rank does not take part") == 2, done.stderr


@with_mpi
def test_without_mpiexec_there_is_one_rank() -> None:
    program = (
        "import reftorch.distributed as dist; dist.init_process_group('mpi');"
        "print(dist.get_rank(), dist.get_world_size())"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "0 1\n", done.stderr


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not dist.is_mpi_available() and not dist.is_backend_available("mpi")
    with pytest.raises(RuntimeError, match=r"doesn't have MPI built in.*mpi4py.*pip install mpi4py mpich"):
        dist.init_process_group("mpi")
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "mpi4py", None)  # as where the package finds no library
    with pytest.raises(RuntimeError, match=r"the backend mpi needs mpi4py and an MPI library: .*mpiexec -n 2"):
        dist.distributed_c10d.ProcessGroupMPI(dist.HashStore(), 0, 1, dist.default_pg_timeout)
