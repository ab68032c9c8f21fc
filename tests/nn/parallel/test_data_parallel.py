"""DataParallel in a process that has two devices: those of the simulator, or GPUs.

Mirrors: test/distributed/test_data_parallel.py
"""

import pytest

import reftorch
from tests.cuda.test_devices import WAYS, run, with_devices


@with_devices
@pytest.mark.parametrize("way", WAYS)
def test_on_two_devices(way: str) -> None:
    file = "tests/nn/parallel/device_data_parallel.py"
    done = run("-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", file, **WAYS[way])
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]


def test_without_devices_the_module_is_called() -> None:
    if reftorch.cuda.is_available():
        pytest.skip("this machine has devices")
    layer = reftorch.nn.Linear(2, 1)
    both = reftorch.nn.DataParallel(layer)
    assert both.device_ids == [] and reftorch.equal(both(reftorch.ones(3, 2)), layer(reftorch.ones(3, 2)))
    for call in (
        lambda: reftorch.nn.parallel.comm.broadcast(reftorch.ones(1), [0]),
        lambda: reftorch.nn.parallel.parallel_apply([layer], [reftorch.ones(3, 2)]),
        lambda: reftorch.nn.parallel.scatter(reftorch.ones(3, 2), [0]),
    ):
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            call()
