"""Proofs that take minutes: ranks that are killed, many clients of a store, hostile bytes. `make proofs` runs them.

Mirrors: nothing in PyTorch: its launcher is not tried by killing ranks at random points

    python -m tests.distributed.proofs kills 200
    python -m tests.distributed.proofs clients 10000
    python -m tests.distributed.proofs hostile 20

The short forms are in tests/csrc/distributed/c10d/test_stores.py and tests/distributed/test_run.py.
"""

from __future__ import annotations

import contextlib
import os
import random
import resource
import select
import signal
import socket
import struct
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import reftorch as torch
import reftorch.distributed as dist

RANKS = 3
LIMIT = 2.0  # seconds from the death of a rank to the error in the others
CLIENT_PROCESSES = 4


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


# --- ranks that are killed --------------------------------------------------------------------------------------------


def one_operation(choice: random.Random) -> None:
    """Call the same collective, or the same messages, on every rank: all draw the same numbers."""
    tensor = torch.ones(choice.choice((1, 1000, 300_000)))
    kind = choice.randrange(8)
    if kind == 0:
        dist.all_reduce(tensor)
    elif kind == 1:
        dist.broadcast(tensor, choice.randrange(RANKS))
    elif kind == 2:
        dist.all_gather([torch.zeros_like(tensor) for _ in range(RANKS)], tensor)
    elif kind == 3:
        dist.barrier()
    elif kind == 4:
        dist.all_to_all([torch.zeros_like(tensor) for _ in range(RANKS)], [tensor] * RANKS)
    elif kind == 5:
        dist.reduce_scatter(torch.zeros_like(tensor), [tensor] * RANKS)
    elif kind == 6:
        works = [dist.all_reduce(tensor.clone(), async_op=True) for _ in range(3)]
        for work in works:
            work.wait()  # type: ignore[union-attr]
    else:
        rank = dist.get_rank()
        work = dist.isend(tensor, (rank + 1) % RANKS)
        dist.recv(torch.zeros_like(tensor), (rank - 1) % RANKS)
        work.wait()  # type: ignore[union-attr]


def be_a_rank(rank: int, port: int, seed: int, report: int) -> None:
    """Call collectives without end, and report the first error and its time."""
    choice = random.Random(seed)
    dist.init_process_group(
        "gloo", f"tcp://127.0.0.1:{port}", timeout=timedelta(seconds=60), rank=rank, world_size=RANKS
    )
    os.write(report, f"{rank} ready\n".encode())
    try:
        while True:
            one_operation(choice)
    except dist.DistBackendError:
        os.write(report, f"{rank} DistBackendError {time.time()}\n".encode())
    except BaseException as error:
        os.write(report, f"{rank} {type(error).__name__}:{error} {time.time()}\n".replace("\n", " ").encode() + b"\n")


def read_lines(reader: int, count: int, seconds: float, text: str = "") -> list[str]:
    deadline = time.time() + seconds
    while text.count("\n") < count and time.time() < deadline:
        if select.select([reader], [], [], 0.1)[0]:
            text += os.read(reader, 65536).decode()
    return text.splitlines()


def kill_one(seed: int) -> float:
    """Kill a rank at a random point. Return after how many seconds the last of the others had its error."""
    choice, port = random.Random(seed), free_port()
    reader, writer = os.pipe()
    pids = []
    for rank in range(RANKS):
        pid = os.fork()
        if pid == 0:
            try:
                be_a_rank(rank, port, seed, writer)
            finally:
                os._exit(0)
        pids.append(pid)
    os.close(writer)
    try:
        lines = read_lines(reader, RANKS, 60)
        assert len(lines) == RANKS, f"seed {seed}: the ranks did not start: {lines}"
        time.sleep(choice.uniform(0, 0.15))
        victim = choice.randrange(RANKS)
        killed = time.time()
        os.kill(pids[victim], signal.SIGKILL)
        errors = [line.split(" ") for line in read_lines(reader, RANKS - 1, 30)]
        assert len(errors) == RANKS - 1, f"seed {seed}: rank {victim} was killed, and only {errors} came"
        assert all(error[1] == "DistBackendError" for error in errors), f"seed {seed}: {errors}"
        last = max(float(error[-1]) for error in errors) - killed
        for pid in pids:
            os.waitpid(pid, 0)
        assert not is_open(port), f"seed {seed}: the port is still open"
        return last
    finally:
        os.close(reader)
        for pid in pids:
            if Path(f"/proc/{pid}").exists():
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def kills(count: int) -> None:
    shared, begin = set(os.listdir("/dev/shm")), time.time()
    times = sorted(kill_one(seed) for seed in range(count))
    assert set(os.listdir("/dev/shm")) <= shared, "something is left under /dev/shm"
    print(
        f"{count} kills of one of {RANKS} ranks in {time.time() - begin:.0f} s: the last error came after "
        f"{times[len(times) // 2]:.3f} s (median) and {times[-1]:.3f} s (most); no process, no port and no file is left"
    )
    assert times[-1] < LIMIT, f"an error took {times[-1]:.2f} s"


# --- many clients of a store ------------------------------------------------------------------------------------------


def raise_limit() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def be_clients(port: int, count: int, first: int, report: int) -> None:
    """Open ``count`` clients, all of which stay, and let each of them ask."""
    clients = []
    for i in range(count):
        client = dist.TCPStore("localhost", port, timeout=timedelta(seconds=120))
        client.set(f"key_{first + i}", str(first + i))
        clients.append(client)
    os.write(report, b"open\n")
    clients[0].wait(["go"], timedelta(seconds=300))
    for i, client in enumerate(clients):
        client.add("count", 1)
        assert client.get(f"key_{first + i}") == str(first + i).encode()
    os.write(report, b"done\n")


def many_clients(count: int) -> None:
    raise_limit()
    port, (reader, writer) = free_port(), os.pipe()
    each, pids, begin = count // CLIENT_PROCESSES, [], time.time()
    for number in range(CLIENT_PROCESSES):
        pid = os.fork()
        if pid == 0:
            try:
                be_clients(port, each, number * each, writer)
            finally:
                os._exit(0)
        pids.append(pid)
    os.close(writer)
    store = dist.TCPStore("localhost", port, is_master=True, timeout=timedelta(seconds=300))
    assert read_lines(reader, CLIENT_PROCESSES, 300) == ["open"] * CLIENT_PROCESSES, "clients could not connect"
    opened = time.time()
    store.set("go", "1")
    assert read_lines(reader, CLIENT_PROCESSES, 300) == ["done"] * CLIENT_PROCESSES, "clients failed"
    ended = time.time()
    total = each * CLIENT_PROCESSES
    assert store.add("count", 0) == total and store.num_keys() >= total
    for pid in pids:
        os.waitpid(pid, 0)
    print(
        f"{total} clients open at once: connected in {opened - begin:.1f} s, {2 * total} further requests in "
        f"{ended - opened:.1f} s, each counted once; {resident_mb():.0f} MB in the server's process"
    )


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


# --- hostile bytes ----------------------------------------------------------------------------------------------------

MAGIC = b"rtstore1"


def hostile_bytes(choice: random.Random) -> bytes:
    kind = choice.randrange(7)
    noise = choice.randbytes(choice.randrange(1, 3000))
    if kind == 0:
        return noise
    if kind == 1:
        return MAGIC[: choice.randrange(len(MAGIC))]
    if kind == 2:  # any length of a frame
        return MAGIC + struct.pack("<I", choice.getrandbits(32)) + noise
    if kind == 3:  # a frame of the right length with words of wrong lengths
        body = struct.pack("<cq", choice.randbytes(1), choice.getrandbits(62)) + noise
        return MAGIC + struct.pack("<I", len(body)) + body
    if kind == 4:  # a question whose only word says that it is long
        return MAGIC + struct.pack("<IcqI", 13 + 4, choice.choice((b"s", b"g", b"a", b"m")), 0, 1 << 31) + b"abcd"
    if kind == 5:  # a flood
        return MAGIC + noise * choice.randrange(1, 2000)
    return b""  # nothing at all


def hostile(seconds: int) -> None:
    raise_limit()
    store = dist.TCPStore("localhost", 0, is_master=True, timeout=timedelta(seconds=30))
    client = dist.TCPStore("localhost", store.port, timeout=timedelta(seconds=30))
    choice, strangers, before = random.Random(0), [], resident_mb()
    end, sent, slowest, count = time.time() + seconds, 0, 0.0, 0
    while time.time() < end:
        stranger = socket.create_connection(("127.0.0.1", store.port))
        stranger.setblocking(False)
        with contextlib.suppress(OSError):
            sent += stranger.send(hostile_bytes(choice))
        strangers.append(stranger)  # half open, until it is one of the oldest 500
        if len(strangers) > 500:
            strangers.pop(0).close()
        asked = time.time()
        assert client.add("count", 1) == count + 1
        slowest, count = max(slowest, time.time() - asked), count + 1
    keys: Any = set(store.list_keys())
    assert "count" in keys
    print(
        f"{count} hostile connections with {sent / 2**20:.0f} MB in {seconds} s: a good client's slowest request took "
        f"{slowest * 1000:.0f} ms, and the process grew by {resident_mb() - before:.0f} MB"
    )


PROOFS = {"kills": (kills, 200), "clients": (many_clients, 10_000), "hostile": (hostile, 20)}


def main(arguments: list[str]) -> None:
    for name, (proof, amount) in PROOFS.items():
        if not arguments or name in arguments:
            following = arguments[arguments.index(name) + 1 :] if name in arguments else []
            proof(int(following[0]) if following and following[0].isdigit() else amount)


if __name__ == "__main__":
    main(sys.argv[1:])
