"""Checkpoints that several ranks write together are read by other numbers of ranks.

Mirrors: test/distributed/checkpoint/test_checkpoint.py, test/distributed/checkpoint/test_fsdp_model_state.py
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import reftorch as torch
import reftorch.distributed.checkpoint as dcp
from reftorch import nn
from reftorch.distributed.checkpoint.metadata import MetadataIndex
from reftorch.distributed.checkpoint.state_dict_saver import AsyncCheckpointerType
from reftorch.distributed.device_mesh import init_device_mesh
from reftorch.distributed.fsdp import fully_shard
from reftorch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from tests.nn.parallel.ddp_ranks import ranks

dist: Any = torch.distributed
pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")


def trained() -> tuple[Any, Any]:
    """Return a model and an optimizer with a state, the same on all ranks."""
    net = nn.Linear(3, 2)
    for p in net.parameters():
        nn.init.constant_(p, 0.5)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.25)
    net(torch.arange(3.0)).sum().backward()
    optimizer.step()
    return net, optimizer


def test_values_that_all_ranks_have_are_written_once_and_read_by_any_number_of_ranks(tmp_path: Path) -> None:
    @ranks()
    def write() -> Any:
        net, optimizer = trained()
        state = {"net": net, "optim": optimizer, "step": 7, "scale": torch.tensor(2.5), 3: {"list": [1, 2]}}
        state["both"] = [torch.ones(2), "x"]
        return dcp.save(state, checkpoint_id=tmp_path)

    metadata, other = write()
    assert metadata.state_dict_metadata == other.state_dict_metadata
    assert {"net.weight", "optim.state.0.exp_avg", "optim.param_groups.0.lr", "3.list", "both.0"} <= set(
        metadata.state_dict_metadata
    )
    assert {info.relative_path for info in metadata.storage_data.values()} == {"__0_0.distcp", "__1_0.distcp"}
    sizes = [path.stat().st_size for path in tmp_path.glob("*.distcp")]
    assert sum(sizes) == sum(info.length for info in metadata.storage_data.values())
    assert {path.name for path in tmp_path.iterdir()} == {".metadata", "__0_0.distcp", "__1_0.distcp"}

    def read() -> list[Any]:
        net = nn.Linear(3, 2)
        optimizer = torch.optim.Adam(net.parameters(), lr=1.0)
        net(torch.zeros(3)).sum().backward()
        optimizer.step()
        state: Any = {"net": net, "optim": optimizer, "step": 0, "scale": torch.zeros(()), 3: {"list": None}}
        scale, kept = state["scale"], net.weight
        dcp.load(state, checkpoint_id=tmp_path)
        assert scale.item() == 2.5 and net.weight is kept and state["scale"] is scale
        averages = optimizer.state[net.weight]["exp_avg"].tolist()
        return [net.state_dict(), averages, optimizer.param_groups[0]["lr"], state["step"], state[3]]

    net, optimizer = trained()
    expected = optimizer.state[net.weight]["exp_avg"].tolist()
    for weights, averages, *rest in [read(), *ranks(3)(read)()]:
        assert all(torch.equal(weights[name], value) for name, value in net.state_dict().items())
        assert averages == expected and rest == [0.25, 7, {"list": [1, 2]}]


def test_pieces_are_read_by_ranks_that_have_other_pieces(tmp_path: Path) -> None:
    whole = torch.arange(35.0).reshape(5, 7)

    @ranks(2)
    def write() -> Any:
        mesh = init_device_mesh("cpu", (2,))
        state = {
            "rows": distribute_tensor(whole, mesh, [Shard(0)]),
            "all": distribute_tensor(whole, mesh, [Replicate()]),
            "one": distribute_tensor(whole[:1], mesh, [Shard(0)]),  # rank 1 has nothing of it
        }
        return dcp.save(state, checkpoint_id=tmp_path)

    metadata, _ = write()
    assert [tuple(chunk.offsets) for chunk in metadata.state_dict_metadata["rows"].chunks] == [(0, 0), (3, 0)]
    assert [tuple(chunk.sizes) for chunk in metadata.state_dict_metadata["all"].chunks] == [(5, 7)]
    assert [tuple(chunk.sizes) for chunk in metadata.state_dict_metadata["one"].chunks] == [(1, 7)]
    files = [metadata.storage_data[MetadataIndex("rows", start)].relative_path for start in ((0, 0), (3, 0))]
    assert files == ["__0_0.distcp", "__1_0.distcp"]

    @ranks(3)
    def read() -> None:
        mesh = init_device_mesh("cpu", (3,))
        columns = distribute_tensor(torch.zeros(5, 7), mesh, [Shard(1)])
        state: dict[str, Any] = {"rows": columns, "all": distribute_tensor(torch.zeros(5, 7), mesh, [Shard(0)])}
        dcp.load(state, checkpoint_id=tmp_path)
        assert all(torch.equal(each.full_tensor(), whole) for each in state.values())

    read()
    state = {"rows": torch.zeros(5, 7)}
    dcp.load(state, storage_reader=dcp.FileSystemReader(tmp_path))
    assert torch.equal(state["rows"], whole)


@pytest.mark.filterwarnings("ignore:Detected an existing checkpoint")
def test_what_fails_on_one_rank_is_raised_on_all(tmp_path: Path) -> None:
    @ranks()
    def program() -> list[str]:
        rank, messages = dist.get_rank(), []

        def fails(call: Any, *args: Any, **kwargs: Any) -> None:
            with pytest.raises(dcp.CheckpointException) as error:
                call(*args, **kwargs)
            messages.append(f"{sorted(error.value.failures)} {str(error.value).splitlines()[-1]}")

        mesh = init_device_mesh("cpu", (2,))
        fails(dcp.load, {"w": torch.zeros(2)}, checkpoint_id=tmp_path)
        fails(dcp.save, {"w": torch.zeros(2 + rank)}, checkpoint_id=tmp_path)
        fails(dcp.save, {"w": DTensor.from_local(torch.ones(1), mesh, [Partial()])}, checkpoint_id=tmp_path)
        fails(dcp.save, {"w": lambda: 0, "v": 1}, checkpoint_id=tmp_path)
        fails(dcp.save, {"a.b": 1, "a": {"b": 2}}, checkpoint_id=tmp_path)
        assert not (tmp_path / ".metadata").exists()
        dcp.save({"w": torch.zeros(2), "n": 1}, checkpoint_id=tmp_path)
        fails(dcp.load, {"w": torch.zeros(2), "v": 1} if rank else {"w": torch.zeros(2)}, checkpoint_id=tmp_path)
        fails(dcp.load, {"w": torch.zeros(3)}, checkpoint_id=tmp_path)
        fails(dcp.load, {"w": 1}, checkpoint_id=tmp_path)
        writer = dcp.FileSystemWriter(tmp_path, overwrite=False)
        fails(dcp.save, {"n": 2}, storage_writer=writer)
        assert (tmp_path / ".metadata").exists()
        dist.barrier()
        fails(dcp.save, {"n": lambda: 0}, checkpoint_id=tmp_path)
        assert not (tmp_path / ".metadata").exists()  # the old list would name bytes that are gone
        return messages

    first, second = program()
    assert first == second
    for message, (numbers, words) in zip(
        first,
        [
            ([0, 1], "FileNotFoundError"),
            ([0, 1], "ValueError: w is TensorStorageMetadata"),
            ([0, 1], "NotImplementedError: a checkpoint takes no tensor of which each rank has a part of the sum"),
            ([0], "Can't pickle"),
            ([0, 1], "ValueError: duplicated flatten key a.b"),
            ([1], "RuntimeError: Missing key in checkpoint state_dict: v."),
            ([0, 1], "ValueError: Size mismatch between saved torch.Size([2]) and current: torch.Size([3]) for w"),
            ([0, 1], "ValueError: w: one of checkpoint and state dict has a tensor"),
            ([0], "RuntimeError: Checkpoint already exists"),
            ([0], "Can't pickle"),
        ],
        strict=True,
    ):
        assert message.startswith(str(numbers)) and words in message


def test_a_checkpoint_may_be_replaced(tmp_path: Path) -> None:
    writer = dcp.FileSystemWriter(tmp_path, single_file_per_rank=False, sync_files=False)
    dcp.save({"w": torch.ones(2), "n": 1}, storage_writer=writer)
    assert {path.name for path in tmp_path.iterdir()} == {".metadata", "__0_0.distcp", "__0_1.distcp"}
    view = torch.arange(1000.0)[5:7]
    with pytest.warns(UserWarning, match="Detected an existing checkpoint"):
        metadata = dcp.save({"w": view}, checkpoint_id=tmp_path, no_dist=True)
    assert next(iter(metadata.storage_data.values())).length < 2000  # not the memory that the view shares
    state = {"w": copy.deepcopy(view) * 0}
    dcp.load(state, checkpoint_id=tmp_path)
    assert state["w"].tolist() == [5.0, 6.0]


def test_arguments_that_are_left_out_are_refused(tmp_path: Path) -> None:
    for call in (dcp.save, dcp.load):
        with pytest.raises(ValueError, match="the folder of the checkpoint"):
            call({})
        with pytest.raises(NotImplementedError, match="planner must be None"):
            call({}, checkpoint_id=tmp_path, planner=object())
    with pytest.raises(NotImplementedError, match="use_collectives must be True"):
        dcp.save({}, checkpoint_id=tmp_path, use_collectives=False)


def test_a_model_in_pieces_goes_on_with_another_number_of_ranks(tmp_path: Path) -> None:
    def model() -> Any:
        net, _ = trained()
        fully_shard(net, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
        return net, torch.optim.Adam(net.parameters(), lr=0.5)

    @ranks(2)
    def write() -> None:
        net, optimizer = model()
        net(torch.ones(3)).sum().backward()
        optimizer.step()
        dcp.save({"net": net, "optim": optimizer.state_dict()}, checkpoint_id=tmp_path)

    @ranks(3)
    def read() -> list[Any]:
        net, optimizer = model()
        net(torch.zeros(3)).sum().backward()
        optimizer.step()
        states = {"net": net, "optim": optimizer.state_dict()}
        dcp.load(states, checkpoint_id=tmp_path)
        return [net.weight.full_tensor(), optimizer.state[net.weight]["exp_avg"].full_tensor()]

    write()
    net, _ = trained()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.5)
    net.zero_grad()
    net(torch.ones(3)).sum().backward()
    optimizer.step()
    for weight, average in read():
        assert torch.allclose(weight, net.weight) and torch.allclose(average, optimizer.state[net.weight]["exp_avg"])


def test_ranks_train_on_while_a_thread_writes(tmp_path: Path) -> None:
    @ranks()
    def program() -> None:
        group = dist.new_group()
        net, _ = trained()
        fully_shard(net)
        first = net.weight.full_tensor()
        future = dcp.async_save({"net": net, "step": 1}, checkpoint_id=tmp_path, process_group=group)
        for _ in range(20):
            with torch.no_grad():
                net.weight.add_(1.0)
            dist.all_reduce(torch.ones(2000))
        assert future.result(60).state_dict_metadata.keys() == {"net.weight", "net.bias", "step"}
        assert not torch.equal(net.weight.full_tensor(), first)
        dcp.load({"net": net, "step": 0}, checkpoint_id=tmp_path)
        assert torch.equal(net.weight.full_tensor(), first)

    program()


def test_the_error_of_a_thread_comes_with_the_result(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    future = dcp.async_save({"a": 1}, checkpoint_id=tmp_path / "file" / "folder")
    with pytest.raises(dcp.CheckpointException, match="NotADirectoryError"):
        future.result(60)
    for options in ({"async_stager": object()}, {"async_checkpointer_type": AsyncCheckpointerType.PROCESS}):
        with pytest.raises(NotImplementedError, match="async_save: async_checkpointer_type must be THREAD"):
            dcp.async_save({"a": 1}, checkpoint_id=tmp_path, **options)
