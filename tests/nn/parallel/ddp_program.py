"""One training with DistributedDataParallel, for both libraries and for ranks that are threads or processes.

Mirrors: test/distributed/test_c10d_common.py (the models of its tests)
"""

from __future__ import annotations

import importlib
from datetime import timedelta
from typing import Any

import numpy as np

STEPS = 6

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "view": {"gradient_as_bucket_view": True},
    "unused": {"find_unused_parameters": True},
    "unused view": {"find_unused_parameters": True, "gradient_as_bucket_view": True},
    "used on one rank": {"find_unused_parameters": True},
    "output outside the loss": {"find_unused_parameters": True},
    "many buckets": {"bucket_cap_mb": 0.001},
    "a list of buckets": {"bucket_cap_mb_list": [0.001, 0.01]},
    "batched copies": {"batched_grad_copy": True, "bucket_cap_mb": 0.001},
    "no_sync": {},
    "no_sync view": {"gradient_as_bucket_view": True},
    "no_sync unused": {"find_unused_parameters": True},
    "allreduce hook": {"bucket_cap_mb": 0.001},
    "fp16 hook": {},
    "fp16 wrapper": {},
    "static": {"static_graph": True},
    "static with checkpoint": {"static_graph": True},
    "no buffers": {"forward_sync_buffers": False},
    "grad kept": {"gradient_as_bucket_view": True},
    "three ranks": {"bucket_cap_mb": 0.001},
    "clipped and evaluated": {},
    "shared weight": {},
    "channels last": {"gradient_as_bucket_view": True},
}
WITH_BRANCH = ("unused", "unused view", "used on one rank", "no_sync unused", "static", "output outside the loss")


def group_of(lib: Any, store: Any, rank: int, size: int) -> Any:
    """Return a process group that is not the default one, so that each rank may be a thread."""
    dist = lib.distributed
    backend = dist.ProcessGroupGloo(store, rank, size, timedelta(seconds=60))
    if isinstance(backend, dist.ProcessGroup):
        return backend
    group = dist.ProcessGroup(store, rank, size)  # in torch, a group has a backend for each type of device
    kind = dist.ProcessGroup.BackendType.GLOO
    group._set_default_backend(kind)
    group._register_backend(lib.device("cpu"), kind, backend)
    return group


def make_net(lib: Any, case: str, rank: int) -> Any:
    """Return a network with the same numbers in both libraries on rank 0, and others on the other ranks."""
    nn = lib.nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(1, 6, 3)
            self.bn = nn.BatchNorm2d(6)
            self.fc1 = nn.Linear(6 * 16, 12)
            self.fc2 = nn.Linear(12, 12)
            self.fc3 = nn.Linear(12, 5)
            self.frozen = nn.Parameter(lib.ones(3), requires_grad=False)
            self.branch = False
            if case in WITH_BRANCH:
                self.extra = nn.Linear(12, 5)
            if case == "shared weight":
                self.fc2.weight = nn.Linear(12, 12).weight
                self.fc4 = nn.Linear(12, 12)
                self.fc4.weight = self.fc2.weight

        def forward(self, x: Any) -> Any:
            x = self.bn(self.conv(x)).relu().flatten(1)
            x = self.fc1(x).tanh()
            if case == "static with checkpoint":
                x = lib.utils.checkpoint.checkpoint(lambda t: self.fc2(t).tanh(), x, use_reentrant=False)
            else:
                x = self.fc2(x).tanh()
            if case == "shared weight":
                x = self.fc4(x).tanh()
            y = self.fc3(x)
            if case == "output outside the loss":
                return {"y": y, "more": [self.extra(x)]}
            return y + self.extra(x) if self.branch else y

    lib.manual_seed(0)
    net = Net().double()
    random = np.random.RandomState(rank)
    with lib.no_grad():
        for p in net.parameters():
            p.copy_(lib.from_numpy(random.uniform(-0.5, 0.5, tuple(p.shape))))
    return net.to(memory_format=lib.channels_last) if case == "channels last" else net


def hook_of(lib: Any, case: str, group: Any) -> Any:
    """Return the state and hook of a case, or None."""
    hooks = importlib.import_module(f"{lib.__name__}.distributed.algorithms.ddp_comm_hooks.default_hooks")
    if case == "allreduce hook":
        return group, hooks.allreduce_hook
    if case == "fp16 hook":
        return group, hooks.fp16_compress_hook
    if case == "fp16 wrapper":
        return group, hooks.fp16_compress_wrapper(hooks.allreduce_hook)
    return None


def numbers(tensor: Any) -> list[float]:
    return tensor.detach().double().reshape(-1).tolist()


def train(lib: Any, case: str, group: Any, rank: int, size: int, device: Any = None) -> dict[str, Any]:
    """Return losses, the gradients of each step, and the parameters and buffers at the end."""
    net = make_net(lib, case, rank).to(device)
    options = OPTIONS[case] if device is None else {"device_ids": [device], **OPTIONS[case]}
    model = lib.nn.parallel.DistributedDataParallel(net, process_group=group, **options)
    hook = hook_of(lib, case, group)
    if hook is not None:
        model.register_comm_hook(*hook)
    optimizer = lib.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    data, losses, gradients = np.random.RandomState(99), [], []

    def loss_of(x: Any, y: Any) -> Any:
        output = model(x)
        return lib.nn.functional.cross_entropy(output["y"] if isinstance(output, dict) else output, y)

    for step in range(STEPS):
        x, y = data.randn(8 * size, 1, 6, 6), data.randint(0, 5, 8 * size)
        xs, ys = lib.from_numpy(x[rank::size].copy()), lib.from_numpy(y[rank::size].astype(np.int64))
        if device is not None:
            ys = ys.to(device)  # DistributedDataParallel takes the inputs to the device, and no labels
        net.branch = case in ("used on one rank", "no_sync unused") and rank == 1 and step % 2 == 1
        optimizer.zero_grad(set_to_none=case != "grad kept")
        if case.startswith("no_sync"):
            with model.no_sync():
                loss_of(xs[:4], ys[:4]).backward()
            net.branch = False
            loss = loss_of(xs[4:], ys[4:])
        else:
            loss = loss_of(xs, ys)
        loss.backward()
        if case == "clipped and evaluated":
            lib.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            model.eval()
            with lib.no_grad():
                losses.append(loss_of(xs, ys).item())
            model.train()
        optimizer.step()
        losses.append(loss.item())
        gradients.append({n: None if p.grad is None else numbers(p.grad) for n, p in net.named_parameters()})
    state = {name: numbers(t) for name, t in net.state_dict().items()}
    return {"losses": losses, "gradients": gradients, "state": state}


def train_delayed(lib: Any, group: Any, rank: int) -> list[Any]:
    """Return the gradients of two passes in which those of the last layer are averaged late."""
    nn = lib.nn
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    with lib.no_grad():
        for p in net.parameters():  # multiples of 1 / 4, so that no sum is rounded; those of rank 0 win
            p.copy_((lib.arange(p.numel()) % 5 - 1 + rank).reshape(p.shape) / 4)
    late = [(f"2.{name}", p) for name, p in net[2].named_parameters()]
    model = nn.parallel.DistributedDataParallel(
        net, process_group=group, delay_all_reduce_named_params=late, param_to_hook_all_reduce=net[0].weight
    )
    seen = []
    for step in range(3):
        model(lib.full((2, 3), 0.5 * (rank + 1) + step)).sum().backward()
        group.barrier().wait()  # torch does not wait for the late averages
        seen.append([p.grad.tolist() for p in net.parameters()])
        model.zero_grad(set_to_none=step == 0)
    return [seen, [p.tolist() for p in net.parameters()]]
