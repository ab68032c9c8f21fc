"""The backend nccl in a process that has three devices: those of the simulator, or GPUs.

Mirrors: test/distributed/test_c10d_nccl.py
"""

import pytest

import reftorch
import reftorch.distributed as dist
from tests.cuda.test_devices import WAYS, run, with_devices, with_simulator


@with_devices
@pytest.mark.parametrize("way", WAYS)
def test_on_three_devices(way: str) -> None:
    files = ["tests/distributed/distributed_c10d/device_nccl.py"]
    if way == "asynchronous":
        files.append("tests/nn/parallel/device_distributed.py")
    settings = WAYS[way] | {"REFTORCH_CUDA_SIM": "3"}
    done = run("-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *files, **settings)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]


PROGRAM = """
import os, sys
import reftorch as torch
import reftorch.distributed as dist
rank = int(os.environ["RANK"])
if len(sys.argv) == 1:
    torch.cuda.set_device(rank)
dist.init_process_group()
assert dist.get_backend() == "nccl"
tensor = torch.full((2,), rank + 1.0, device="cuda")
dist.all_reduce(tensor)
dist.barrier()
sys.stdout.write(f"{rank} {tensor.tolist()}\\n")  # in one piece: the lines of two ranks must not mix
dist.destroy_process_group()
"""


@with_simulator
@pytest.mark.parametrize("forgotten", [False, True])
def test_two_processes(forgotten: bool, tmp_path: object) -> None:
    program = f"{tmp_path}/program.py"
    with open(program, "w") as file:
        file.write(PROGRAM)
    done = run("-m", "reftorch.distributed.run", "--standalone", "--nproc-per-node=2", program, *["x"] * forgotten)
    if forgotten:
        assert done.returncode == 1
        assert "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 0" in done.stderr
        assert "torch.cuda.set_device(rank)" in done.stderr
    else:
        assert done.returncode == 0, done.stderr
        assert sorted(done.stdout.splitlines()) == ["0 [3.0, 3.0]", "1 [3.0, 3.0]"]


def test_without_devices_the_backend_is_missing() -> None:
    if reftorch.cuda.is_available():
        pytest.skip("this machine has devices")
    assert not dist.is_nccl_available() and not dist.is_backend_available("cpu:gloo,cuda:nccl")
    with pytest.raises(RuntimeError, match=r"Distributed package doesn't have NCCL built in.*REFTORCH_CUDA_SIM=2"):
        dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
    if hasattr(dist, "ProcessGroupNCCL"):
        with pytest.raises(ValueError, match="only supported with GPUs, no GPUs found"):
            dist.ProcessGroupNCCL(dist.HashStore(), 0, 1)
