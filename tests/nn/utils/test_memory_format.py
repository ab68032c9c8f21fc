"""Memory formats of the weights of convolutions.

Mirrors: test/test_nn.py, its tests of ``convert_conv2d_weight_memory_format``
Leaves out: ``channels_last_3d``.
"""

from types import ModuleType
from typing import Any

from tests.nn.utils.both import compare


def program(lib: Any) -> list[Any]:
    net = lib.nn.Sequential(lib.nn.Conv2d(2, 3, 3), lib.nn.ConvTranspose2d(3, 2, 2), lib.nn.Linear(2, 2))
    net.append(lib.nn.Sequential(lib.nn.Conv3d(2, 3, 2), lib.nn.Conv1d(2, 3, 2)))
    weights = list(net.parameters())
    found = [lib.nn.utils.convert_conv2d_weight_memory_format(net, lib.channels_last) is net]
    found.append([list(w.stride()) for w in weights])
    lib.nn.utils.convert_conv3d_weight_memory_format(net, lib.contiguous_format)
    found.append([list(w.stride()) for w in net.parameters()])
    return [*found, all(a is b for a, b in zip(weights, net.parameters(), strict=True))]


def test_only_convolutions_of_the_rank_are_converted(real_torch: ModuleType) -> None:
    compare(program, real_torch)
