"""The stores: one contract for all of them, and bytes at the port of a store that nobody meant.

Mirrors: test/distributed/test_store.py
"""

import os
import socket
import struct
import threading
import time
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import reftorch
import reftorch.distributed as dist
from tests.answers.watched import asked

KINDS = ("hash", "tcp", "file", "prefix")
SHORT = timedelta(milliseconds=150)


def make(lib: Any, kind: str, folder: Path) -> Any:
    distributed = lib.distributed
    if kind == "tcp":
        return distributed.TCPStore("localhost", 0, is_master=True)
    if kind == "file":
        return distributed.FileStore(str(folder / f"store_of_{lib.__name__}"), 1)
    store = distributed.HashStore()
    return distributed.PrefixStore("job", store) if kind == "prefix" else store


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_store_answers(kind: str, tmp_path: Path, real_torch: ModuleType) -> None:
    def program(lib: Any) -> list[Any]:
        store = make(lib, kind, tmp_path)
        store.set("key", "value")
        said: list[Any] = [store.get("key"), store.add("number", 3), store.add("number", -5), store.get("number")]
        said += [store.compare_set("key", "other", "new"), store.compare_set("key", "value", "new"), store.get("key")]
        said += [store.compare_set("fresh", "", "first"), store.compare_set("missing", "x", "y")]
        said += [store.check(["key", "fresh"]), store.check(["key", "nothing"])]
        said += [store.delete_key("fresh"), store.check(["fresh"])]
        store.wait(["key", "number"], SHORT)
        try:
            store.wait(["nothing"], SHORT)
        except RuntimeError:  # DistStoreError here for all stores, and in torch for all but the file
            said.append("no such key")
        if kind != "file":
            store.append("text", "ab")
            store.append("text", "cd")
            store.multi_set(["m1", "m2"], ["1", "2"])
            said += [store.get("text"), store.multi_get(["m1", "m2"]), store.has_extended_api()]
            store.queue_push("queue", "first")
            store.queue_push("queue", "second")
            said += [store.queue_len("queue"), store.queue_pop("queue"), store.queue_pop("queue")]
            try:
                store.queue_pop("queue", block=False)
            except lib.distributed.QueueEmptyError as error:
                said.append(str(error))
        return [each.decode() if isinstance(each, bytes) else str(each) for each in said]

    assert program(reftorch) == asked(real_torch, program)


@pytest.mark.parametrize("kind", KINDS)
def test_threads_wait_for_each_other_and_count_each_call_once(kind: str, tmp_path: Path) -> None:
    master = make(reftorch, kind, tmp_path)
    stores = [master, *(master.clone() for _ in range(3))]
    seen: list[int] = []

    def work(store: Any, number: int) -> None:
        seen.extend(store.add("count", 1) for _ in range(25))
        store.set(f"from_{number}", bytes([number, 0, 255]))
        assert store.get(f"from_{(number + 1) % 4}") == bytes([(number + 1) % 4, 0, 255])
        store.barrier("end", 4)

    threads = [threading.Thread(target=work, args=(store, i)) for i, store in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(seen) == list(range(1, 101))


def test_a_missing_key_is_named() -> None:
    store = dist.TCPStore("localhost", 0, is_master=True, timeout=SHORT)
    with pytest.raises(dist.DistStoreError, match=r"wait timeout after 150ms, keys: /?nothing"):
        store.get("nothing")
    with pytest.raises(dist.DistStoreError, match="wait timeout after 20ms, keys: b"):
        dist.HashStore().wait(["b"], timedelta(milliseconds=20))
    store.set("text", "words")
    with pytest.raises(dist.DistStoreError, match="expected a number as the value of the key text"):
        store.add("text", 1)


def test_a_store_waits_for_its_workers_and_counts_those_who_came() -> None:
    with pytest.raises(dist.DistStoreError, match=r"waiting for clients. 1/2 clients joined"):
        dist.TCPStore("localhost", 0, world_size=2, is_master=True, timeout=SHORT)
    with pytest.raises(dist.DistNetworkError, match="timed out while trying to connect to localhost:"):
        dist.TCPStore("localhost", free_port(), timeout=SHORT)
    taken = dist.TCPStore("localhost", 0, is_master=True)
    with pytest.raises(dist.DistNetworkError, match=r"cannot listen on port .*Address already in use"):
        dist.TCPStore("localhost", taken.port, is_master=True)
    shared = dist.TCPStore("localhost", 0, is_master=True, multi_tenant=True)
    shared.set("key", "value")
    assert dist.TCPStore("localhost", shared.port, is_master=True, multi_tenant=True).get("key") == b"value"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_last_worker_removes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "store"
    first, second = dist.FileStore(str(path), 2), dist.FileStore(str(path), 2)
    first.set("key", "value")
    del first
    assert path.exists() and second.get("key") == b"value" and second.path == str(path)
    del second
    assert not path.exists()
    path.write_bytes(b"not the file of a store")
    with pytest.raises(dist.DistStoreError, match="is not the file of a store"):
        dist.FileStore(str(path), 1)


def test_a_store_listens_on_the_loopback_unless_asked_otherwise() -> None:
    def listeners(port: int) -> set[str]:
        rows = Path("/proc/net/tcp").read_text().splitlines()[1:]
        return {
            row.split()[1].split(":")[0] for row in rows if row.split()[1].endswith(f":{port:04X}") and " 0A " in row
        }

    store = dist.TCPStore("localhost", 0, is_master=True)
    assert listeners(store.port) == {"0100007F"}
    outside = dist.TCPStore(socket.gethostname(), 0, is_master=True)
    assert listeners(outside.port) == {"00000000"}


# --- bytes that nobody meant


MAGIC = b"rtstore1"
HOSTILE: dict[str, bytes] = {
    "a browser": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "half a greeting": MAGIC[:4],
    "a frame of four gigabytes": MAGIC + b"\xff" * 4,
    "a frame without a command": MAGIC + struct.pack("<I", 0),
    "a frame that does not end": MAGIC + struct.pack("<I", 1 << 20) + b"s" * 100,
    "a word longer than its frame": MAGIC + struct.pack("<IcqI", 13 + 4, b"s", 0, 1 << 30) + b"abcd",
    "half the length of a word": MAGIC + struct.pack("<Icq", 9 + 2, b"s", 0) + b"ab",
    "an unknown command": MAGIC + struct.pack("<Icq", 9, b"\x00", 0),
    "too few words": MAGIC + struct.pack("<IcqI", 13 + 1, b"x", 0, 1) + b"k",
    "a wait that is over at once": MAGIC + struct.pack("<IcqI", 13 + 1, b"w", -(1 << 62), 1) + b"k",
    "noise": os.urandom(5000),
}


@pytest.fixture
def store() -> dist.TCPStore:
    return dist.TCPStore("localhost", 0, is_master=True, timeout=timedelta(seconds=20))


@pytest.mark.parametrize("sent", HOSTILE.values(), ids=HOSTILE)
def test_hostile_bytes_hurt_nobody(sent: bytes, store: dist.TCPStore) -> None:
    strangers = []
    for _ in range(3):
        stranger = socket.create_connection(("127.0.0.1", store.port))
        stranger.sendall(sent)
        strangers.append(stranger)  # stays half open
    store.set("key", "value")
    assert store.get("key") == b"value" and store.num_keys() == 1
    assert dist.TCPStore("localhost", store.port).get("key") == b"value"
    for stranger in strangers:
        stranger.close()
    assert store.add("number", 1) == 1


def test_a_client_that_never_takes_its_answers_delays_nobody(store: dist.TCPStore) -> None:
    store.set("large", b"x" * (8 << 20))
    stranger = socket.create_connection(("127.0.0.1", store.port))
    stranger.sendall(MAGIC + struct.pack("<IcqI", 13 + 5, b"g", 1000, 5) + b"large")
    stranger.sendall(struct.pack("<IcqI", 13 + 5, b"g", 1000, 5) + b"large")
    begin = time.monotonic()
    assert len(store.get("large")) == 8 << 20
    assert time.monotonic() - begin < 15
    stranger.close()


def test_half_open_connections_give_their_places_up(store: dist.TCPStore) -> None:
    """The server has a limit of open files; the client of the test is another process."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    here = len(os.listdir("/proc/self/fd"))
    strangers = []
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (here + 40, limits[1]))
        for _ in range(19):  # each takes two descriptors, because the server is in this process
            stranger = socket.socket()
            stranger.settimeout(5)
            stranger.connect(("127.0.0.1", store.port))
            strangers.append(stranger)
        store.set("key", "value")
        strangers.pop().close()
        client = dist.TCPStore("localhost", store.port)
        assert client.get("key") == b"value"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for stranger in strangers:
            stranger.close()


def test_a_value_that_is_too_long_is_refused_by_the_client(store: dist.TCPStore) -> None:
    with pytest.raises(ValueError, match="must be shorter than 32 MiB together"):
        store.set("key", b"x" * (33 << 20))
    assert store.num_keys() == 0


def test_many_clients_at_once(store: dist.TCPStore) -> None:
    clients = [dist.TCPStore("localhost", store.port) for _ in range(100)]

    def ask(mine: list[Any]) -> None:
        for client in mine:
            for _ in range(5):
                client.add("count", 1)

    threads = [threading.Thread(target=ask, args=(clients[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert store.add("count", 0) == 500


def test_a_store_whose_process_has_gone_is_named() -> None:
    store = dist.TCPStore("localhost", 0, is_master=True, timeout=SHORT)
    client = dist.TCPStore("localhost", store.port, timeout=SHORT)
    del store
    with pytest.raises(
        dist.DistNetworkError, match=r"TCPStore of localhost:.*has the process that holds the store ended"
    ):
        client.get("key")


def test_a_copy_of_a_store_whose_process_has_gone_fails_at_once() -> None:
    """A group asks for a copy when it fails, and its error must not wait for the timeout of the store."""
    server = dist.TCPStore("localhost", 0, is_master=True)
    client = dist.TCPStore("localhost", server.port, timeout=timedelta(seconds=60))
    assert client.clone().timeout == timedelta(seconds=60)
    del server
    begin = time.monotonic()
    with pytest.raises(dist.DistNetworkError):
        client.clone()
    assert time.monotonic() - begin < 10
