"""How processes find each other.

Mirrors: test/distributed/test_store.py
"""

from datetime import timedelta
from pathlib import Path

import pytest

import reftorch.distributed as dist
from tests.csrc.distributed.c10d.test_stores import free_port

VARIABLES = ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE")


def test_a_file(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/store?rank=0&world_size=1"
    store, rank, world_size = next(dist.rendezvous(url))
    assert (rank, world_size) == (0, 1) and isinstance(store, dist.FileStore)
    with pytest.raises(AssertionError, match="has node-specific arguments"):
        dist.rendezvous(url, rank=1)


def test_an_address() -> None:
    port = free_port()
    server, *numbers = next(dist.rendezvous(f"tcp://localhost:{port}?rank=0&world_size=1"))
    server.set("key", "value")
    client, *others = next(
        dist.rendezvous(f"tcp://localhost:{port}", rank=1, world_size=1, timeout=timedelta(seconds=9))
    )
    assert client.get("key") == b"value" and [numbers, others] == [[0, 1], [1, 1]]


def test_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("TORCHELASTIC_USE_AGENT_STORE", raising=False)
    for name, value in zip(
        ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"), ("0", "1", "localhost", None), strict=True
    ):
        with pytest.raises(
            ValueError, match=f"environment variable {name} expected, but not set. Hint: start the program"
        ):
            next(dist.rendezvous("env://"))
        monkeypatch.setenv(name, value or str(free_port()))
    store, rank, world_size = next(dist.rendezvous("env://"))
    assert (rank, world_size) == (0, 1) and isinstance(store, dist.TCPStore)


def test_the_keys_of_an_attempt_are_apart_from_those_of_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = dist.TCPStore("localhost", 0, is_master=True)
    monkeypatch.setenv("TORCHELASTIC_USE_AGENT_STORE", "True")
    for attempt in ("0", "1"):
        monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", attempt)
        store, *_ = next(dist.rendezvous(f"tcp://localhost:{agent.port}?rank=0&world_size=1"))
        assert not store.check(["key"])
        store.set("key", attempt)
    assert sorted(key for key in agent.list_keys() if key.endswith("key")) == [
        "worker/attempt_0/key",
        "worker/attempt_1/key",
    ]


def test_a_scheme_of_ones_own() -> None:
    if "mine" not in dist.distributed_c10d.groups.rendezvous.__globals__["_rendezvous_handlers"]:
        dist.register_rendezvous_handler("mine", lambda url, **kwargs: iter([(dist.HashStore(), 0, 1)]))
    dist.init_process_group(init_method="mine://x")
    assert dist.get_world_size() == 1
    dist.destroy_process_group()
    with pytest.raises(RuntimeError, match="Rendezvous handler for mine:// already registered"):
        dist.register_rendezvous_handler("mine", lambda url, **kwargs: iter([]))
    with pytest.raises(RuntimeError, match="No rendezvous handler for other://"):
        dist.rendezvous("other://x")
    with pytest.raises(RuntimeError, match="`url` must be a string"):
        dist.rendezvous(3)  # type: ignore[arg-type]
