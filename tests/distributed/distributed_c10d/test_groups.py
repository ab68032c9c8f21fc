"""Making and ending groups, and the questions about them.

Mirrors: test/distributed/test_c10d_common.py
"""

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import reftorch
import reftorch.distributed as dist
from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
from tests.answers.watched import asked


def alone() -> dict[str, Any]:
    return {"store": dist.HashStore(), "rank": 0, "world_size": 1}


def test_a_default_group_comes_and_goes() -> None:
    for _ in range(2):
        dist.init_process_group(**alone())
        assert dist.is_initialized() and dist.get_rank() == 0 and dist.get_world_size() == 1
        assert dist.get_backend() == "undefined" or dist.get_backend() == "gloo"
        assert dist.group.WORLD is dist.GroupMember.WORLD and isinstance(dist.group.WORLD, dist.ProcessGroup)
        assert dist.get_process_group_ranks(None) == [0] and dist.get_pg_count() == 1
        with pytest.raises(ValueError, match="trying to initialize the default process group twice"):
            dist.init_process_group(**alone())
        dist.destroy_process_group()
        assert not dist.is_initialized() and dist.group.WORLD is None
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        dist.get_rank()
    with pytest.raises(ValueError, match="Invalid process group specified"):
        dist.destroy_process_group()


def test_errors_of_init_process_group(real_torch: ModuleType) -> None:
    def program(lib: Any) -> list[str]:
        d, said = lib.distributed, []
        store = d.HashStore()
        for arguments in (
            {"backend": "nccl", "store": store, "rank": 0, "world_size": 1, "timeout": timedelta(seconds=5)},
            {"store": store, "init_method": "env://"},
            {"store": store, "rank": 0},
            {"store": store, "world_size": 1},
            {"store": store, "rank": 0, "world_size": 1, "timeout": 3},
            {"init_method": "carrier://pigeon"},
            {"init_method": "tcp://localhost?rank=0&world_size=1"},
            {"init_method": "file:///tmp/x?rank=0"},
        ):
            try:
                d.init_process_group(**arguments)
                d.destroy_process_group()
                said.append("no error")
            except Exception as error:
                said.append(f"{type(error).__name__}: {error}".split(". Hint")[0].strip())
        return said

    assert program(reftorch) == asked(real_torch, program)


def test_an_unknown_backend_is_named() -> None:
    with pytest.raises(ValueError, match="Invalid backend: 'pigeon'"):
        dist.init_process_group("pigeon", **alone())
    assert not dist.is_initialized()


def test_a_registered_backend_makes_the_groups() -> None:
    made = []

    def creator(store: Any, rank: int, size: int, timeout: timedelta) -> Any:
        made.append((rank, size, timeout))
        return dist.ProcessGroupGloo(store, rank, size, timeout)

    if not hasattr(dist.Backend, "OURS"):
        dist.Backend.register_backend("ours", creator, devices="cpu")
    dist.init_process_group("ours", timeout=timedelta(seconds=5), **alone())
    assert (
        dist.get_backend() == "ours" and dist.is_backend_available("ours") and dist.get_backend_config() == "cpu:ours"
    )
    dist.destroy_process_group()
    assert made == [(0, 1, timedelta(seconds=5))]


def test_names_of_backends() -> None:
    assert dist.Backend("GLOO") == "gloo" == dist.Backend.GLOO
    config = dist.BackendConfig(dist.Backend("cpu:gloo,cuda:nccl"))
    assert config.get_device_backend_map() == {"cpu": "gloo", "cuda": "nccl"} and repr(config) == "cpu:gloo,cuda:nccl"
    with pytest.raises(ValueError, match="custom backend string argument is invalid"):
        dist.BackendConfig(dist.Backend("cpu:gloo,cuda"))
    with pytest.raises(ValueError, match="must be string-ish"):
        dist.Backend(3)  # type: ignore[arg-type]
    assert dist.supports_complex(dist.ReduceOp.SUM) and not dist.supports_complex(dist.ReduceOp.MIN)


def test_groups_of_some_ranks() -> None:
    @spawn_threads_and_init_comms(world_size=4)
    def program() -> Any:
        rank = dist.get_rank()
        evens, odds = dist.new_group([2, 0]), dist.new_group([1, 3], sort_ranks=False, group_desc="odds")
        mine, all_groups = dist.new_subgroups(2)
        own: Any = evens if rank % 2 == 0 else odds
        other: Any = odds if rank % 2 == 0 else evens
        assert other == dist.GroupMember.NON_GROUP_MEMBER and dist.get_rank(other) == -1
        assert dist.get_world_size(other) == -1 and own.group_desc == ("odds" if rank % 2 else "undefined")
        total = reftorch.tensor([float(rank)])
        dist.all_reduce(total, group=own)
        neighbours = reftorch.tensor([float(rank)])
        dist.all_reduce(neighbours, group=mine)  # type: ignore[arg-type]
        members = dist.get_process_group_ranks(mine)  # type: ignore[arg-type]
        assert len(all_groups) == 2 and members == [rank // 2 * 2, rank // 2 * 2 + 1]
        ranks = dist.get_process_group_ranks(own)
        config = dist.distributed_c10d._get_pg_config(own)
        assert config["pg_desc"] == own.group_desc and config["backend_config"] == "cpu:gloo,cuda:gloo"
        assert (config["pg_size"], config["ranks"]) == (2, ranks) and config["pg_name"] == own.group_name
        dist.destroy_process_group(own)
        with pytest.raises(ValueError, match="is not registered"):
            dist.get_group_rank(own, 0)
        return total.item(), neighbours.item(), ranks

    assert program() == [(2.0, 1.0, [0, 2]), (4.0, 1.0, [1, 3]), (2.0, 5.0, [0, 2]), (4.0, 5.0, [1, 3])]


def test_errors_of_new_groups() -> None:
    dist.init_process_group(**alone())
    try:
        with pytest.raises(ValueError, match="Rank 3 is out of range"):
            dist.new_group([3])
        with pytest.raises(ValueError, match="must not contain duplicate entries"):
            dist.new_group([0, 0])
        with pytest.raises(ValueError, match="must not exceed the world size"):
            dist.new_subgroups(2)
        with pytest.raises(ValueError, match="cannot be empty"):
            dist.new_subgroups_by_enumeration([])
    finally:
        dist.destroy_process_group()


def test_ranks_of_machines_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    assert dist.get_node_local_rank(fallback_rank=3) == 3
    with pytest.raises(RuntimeError, match="LOCAL_RANK is not in the environment"):
        dist.get_node_local_rank()
    monkeypatch.setenv("LOCAL_RANK", "2")
    assert dist.get_node_local_rank() == 2


UNFINISHED = """
import reftorch as torch, reftorch.distributed as dist, sys
dist.init_process_group(init_method="file://" + sys.argv[1], rank=int(sys.argv[2]), world_size=2)
if sys.argv[2] == "1":
    sys.exit(0)  # without a goodbye
work = dist.all_reduce(torch.ones(2), async_op=True)
raise ValueError("in rank 0")
"""


def test_a_process_ends_although_an_operation_waits(tmp_path: Path) -> None:
    command = [sys.executable, "-c", UNFINISHED, str(tmp_path / "store")]
    environment = {**os.environ, "TORCHELASTIC_ERROR_FILE": str(tmp_path / "error.json")}
    other = subprocess.Popen([*command, "1"])
    done = subprocess.run([*command, "0"], capture_output=True, text=True, timeout=60, env=environment, check=False)
    assert other.wait(30) == 0 and done.returncode == 1
    assert "[rank0]: ValueError: in rank 0" in done.stderr
    assert '"ValueError: in rank 0"' in (tmp_path / "error.json").read_text()
