"""How processes that know nothing of each other get a store, a rank and the number of ranks: by a URL.

- ``env://`` reads the environment variables MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE, which the launcher sets.
- ``tcp://HOST:PORT?rank=R&world_size=N`` names the machine of rank 0 and a free port there.
- ``file:///PATH?rank=R&world_size=N`` names a file that all processes can read and write.

Mirrors: torch/distributed/rendezvous.py
Leaves out: ``use_libuv``, which has no effect.
"""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlparse

from reftorch._C._distributed_c10d import FileStore, PrefixStore, Store, TCPStore
from reftorch.distributed.constants import default_pg_timeout

__all__ = ["register_rendezvous_handler", "rendezvous"]

_Handler = Callable[..., Iterator[tuple[Store, int, int]]]
_rendezvous_handlers: dict[str, _Handler] = {}


def register_rendezvous_handler(scheme: str, handler: _Handler) -> None:
    """Let URLs that begin with ``scheme://`` be answered by ``handler``.

    Args:
        scheme: a new name.
        handler: a generator function that takes the URL, with rank and world size in its query, and keyword arguments,
            and yields the store, the rank and the world size.

    Raises:
        RuntimeError: the scheme has a handler.

    Mirrors torch/distributed/rendezvous.py, ``register_rendezvous_handler``.
    """
    if scheme in _rendezvous_handlers:
        raise RuntimeError(f"Rendezvous handler for {scheme}:// already registered")
    _rendezvous_handlers[scheme] = handler


def rendezvous(url: str, rank: int = -1, world_size: int = -1, **kwargs: Any) -> Iterator[tuple[Store, int, int]]:
    """Return an iterator whose first element is the store, the rank and the world size for ``url``.

    Args:
        url: see above.
        rank: of this process, if the URL does not say it.
        world_size: the number of processes, if the URL does not say it.
        kwargs: ``timeout``, how long to wait for the store.

    Raises:
        RuntimeError: an argument has a wrong type, or nobody handles the scheme.
        ValueError: something is missing in the URL or the environment; raised by the first ``next``.

    Example:
        >>> import tempfile
        >>> from reftorch.distributed import rendezvous
        >>> path = tempfile.mkdtemp() + "/store"
        >>> store, rank, world_size = next(rendezvous(f"file://{path}", rank=0, world_size=1))
        >>> rank, world_size
        (0, 1)

    Mirrors torch/distributed/rendezvous.py, ``rendezvous``.
    """
    if not isinstance(url, str):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url}")
    for name, value in (("rank", rank), ("world_size", world_size)):
        if not isinstance(value, numbers.Integral):
            raise RuntimeError(f"`{name}` must be an integer. {value}")
    parsed = urlparse(url)
    if rank != -1 or world_size != -1:
        query = _query(url)
        if "rank" in query or "world_size" in query:
            raise AssertionError(f"The url: {url} has node-specific arguments(rank, world_size) already.")
        query |= {name: str(value) for name, value in (("rank", rank), ("world_size", world_size)) if value != -1}
        # Not urlunparse(): it would write env: for env://, which has nothing but a query.
        url = f"{parsed.scheme}://{parsed.netloc}{parsed.path}?{urlencode(query)}"
    if parsed.scheme not in _rendezvous_handlers:
        raise RuntimeError(f"No rendezvous handler for {parsed.scheme}://")
    return _rendezvous_handlers[parsed.scheme](url, **kwargs)


def _query(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlparse(url).query))


def _numbers_of(url: str, scheme: str) -> tuple[int, int]:
    """Return the rank and the world size of a URL."""
    query = _query(url)
    for name, words in (("rank", "rank"), ("world_size", "world size")):
        if name not in query:
            raise ValueError(
                f"Error initializing torch.distributed using {scheme}:// rendezvous: {words} parameter missing"
            )
    return int(query["rank"]), int(query["world_size"])


def _store_at(host: str, port: int, rank: int, world_size: int, timeout: timedelta) -> Store:
    """Return the store at an address. Rank 0 serves it, unless the launcher does, whose store outlives a rank."""
    if not 0 <= port < 2**16:
        raise ValueError(f"port must have value from 0 to 65535 but was {port}.")
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        store = TCPStore(host, port, world_size, is_master=False, timeout=timeout)
        # The launcher's store has the keys of an earlier start, too, and its addresses are those of dead processes.
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        return PrefixStore(f"worker/attempt_{attempt}", store)
    return TCPStore(host, port, world_size, is_master=rank == 0, timeout=timeout, multi_tenant=True)


def _tcp_handler(url: str, timeout: timedelta = default_pg_timeout, **kwargs: Any) -> Iterator[tuple[Store, int, int]]:
    parsed = urlparse(url)
    if parsed.port is None:
        raise ValueError("Error initializing torch.distributed using tcp:// rendezvous: port number missing")
    rank, world_size = _numbers_of(url, "tcp")
    yield _store_at(parsed.hostname or "localhost", parsed.port, rank, world_size, timeout), rank, world_size


def _file_handler(url: str, **kwargs: Any) -> Iterator[tuple[Store, int, int]]:
    path = urlparse(url).path
    if not path:
        raise ValueError("Error initializing torch.distributed using file:// rendezvous: path missing")
    rank, world_size = _numbers_of(url, "file")
    yield FileStore(path, world_size), rank, world_size


def _env_handler(url: str, timeout: timedelta = default_pg_timeout, **kwargs: Any) -> Iterator[tuple[Store, int, int]]:
    query = _query(url)

    def variable(name: str) -> str:
        value = query.get(name.lower()) or os.environ.get(name)
        if not value:
            raise ValueError(
                f"Error initializing torch.distributed using env:// rendezvous: environment variable {name} expected, "
                "but not set. Hint: start the program with `python -m reftorch.distributed.run`, which sets it"
            )
        return value

    rank, world_size = int(variable("RANK")), int(variable("WORLD_SIZE"))
    host, port = variable("MASTER_ADDR"), int(variable("MASTER_PORT"))
    yield _store_at(host, port, rank, world_size, timeout), rank, world_size


register_rendezvous_handler("tcp", _tcp_handler)
register_rendezvous_handler("env", _env_handler)
register_rendezvous_handler("file", _file_handler)
