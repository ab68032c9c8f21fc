"""Names of tensors and parameters in pieces: their old places, placements, and what of them is left out.

Mirrors: nothing in PyTorch: there all names do what they say.
"""

from typing import Any

import pytest

import reftorch
from reftorch.distributed import fsdp
from reftorch.distributed._composable.fsdp import fully_shard
from reftorch.distributed._functional_collectives import wait_tensor
from reftorch.distributed._tensor import DTensor as FormerDTensor
from reftorch.distributed._tensor.experimental import implicit_replication
from reftorch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard
from reftorch.distributed.tensor.placement_types import _StridedShard


def test_no_tensor_and_no_module_is_in_pieces() -> None:
    net = reftorch.nn.Linear(2, 2)
    assert not any(isinstance(p, DTensor) for p in net.parameters())
    assert not isinstance(net, (fsdp.FSDPModule, fsdp.FullyShardedDataParallel))
    assert FormerDTensor is DTensor and fully_shard is fsdp.fully_shard


REFUSED: list[Any] = [
    lambda: fsdp.FullyShardedDataParallel(reftorch.nn.Linear(1, 1)),
    lambda: fsdp.CPUOffloadPolicy(),
    lambda: implicit_replication(),
]


@pytest.mark.parametrize("call", REFUSED, ids=range(len(REFUSED)))
def test_what_is_left_out_says_so(call: Any) -> None:
    with pytest.raises(NotImplementedError, match=r"^\w+: .*\bhere\b"):
        call()


def test_placements_answer_questions() -> None:
    placements = [Shard(1), Replicate(), Partial(), _StridedShard(0, split_factor=2)]
    assert [p.is_shard() for p in placements] == [True, False, False, True]
    assert [p.is_shard(0) for p in placements] == [False, False, False, True]
    assert [p.is_replicate() for p in placements] == [False, True, False, False]
    assert [p.is_partial("sum") for p in placements] == [False, False, True, False]
    assert Shard(1) == Shard(dim=1) != Shard(0) and len({Shard(1), Shard(1), Replicate()}) == 2
    assert all(isinstance(p, Placement) for p in placements)
    assert [str(p) for p in placements[:3]] == ["S(1)", "R", "P(sum)"] and repr(Partial("max")) == "Partial(max)"


def test_a_tensor_is_ready() -> None:
    x = reftorch.ones(2)
    assert wait_tensor(x) is x
