"""The workers of one machine, through all restarts.

Mirrors: torch/distributed/elastic/agent/server/local_elastic_agent.py, torch/distributed/elastic/agent/server/api.py
Leaves out: machines that join and leave, other rendezvous than a TCPStore, health checks, events, metrics.

Node 0's agent keeps the store, in which the agents and their workers meet. So the store outlives each worker, and a
restart finds it where it was.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from reftorch import _places
from reftorch._C import _DistNetworkError, _DistStoreError
from reftorch._C._distributed_c10d import PrefixStore, Store, TCPStore
from reftorch.distributed.elastic.multiprocessing.api import Std, WorkerProcess

__all__ = ["LocalElasticAgent"]

GRACE = 30.0  # seconds between SIGTERM and SIGKILL
_RULE = "=" * 60


def _is_this_machine(host: str) -> bool:
    """Return whether the address of a host is one of this machine: a socket can be bound to no other."""
    with socket.socket() as probe:
        try:
            probe.bind((socket.gethostbyname(host), 0))
        except OSError:
            return False
    return True


class LocalElasticAgent:
    """The agent of one machine.

    Args:
        options: of the command line, as ``run.get_args_parser()`` gives them.
        workers: the number of workers on this machine.

    Mirrors torch/distributed/elastic/agent/server/local_elastic_agent.py, ``LocalElasticAgent``.
    """

    def __init__(self, options: argparse.Namespace, workers: int) -> None:
        self.options, self.workers = options, workers
        self.redirects, self.tee = Std.from_str(options.redirects, workers), Std.from_str(options.tee, workers)
        self.keeps_logs = options.log_dir is not None or any(self.redirects.values()) or any(self.tee.values())
        if options.log_dir:
            Path(options.log_dir).mkdir(parents=True, exist_ok=True)
        self.log_dir = Path(tempfile.mkdtemp(prefix=f"{options.rdzv_id}_", dir=options.log_dir))
        self.store, self.host, self.node_rank = self._meet()
        self.no_timeouts = False

    def _meet(self) -> tuple[TCPStore, str, int]:
        """Return the store of all agents, its host, and the number of this machine."""
        options = self.options
        host, port = ("127.0.0.1", 0) if options.standalone else (options.master_addr, options.master_port)
        if options.rdzv_endpoint:
            host, _, text = options.rdzv_endpoint.partition(":")
            port = int(text or 29400)
        patience = timedelta(seconds=options.rdzv_timeout)
        node_rank = 0 if options.nnodes == 1 else options.node_rank
        if node_rank is not None:
            store = TCPStore(host, port, is_master=node_rank == 0, timeout=patience)
            return store, host, node_rank
        try:  # the machine of that address has the store: the first agent there, if there are several
            store = TCPStore(host, port, is_master=_is_this_machine(host), timeout=patience)
        except _DistNetworkError:
            store = TCPStore(host, port, timeout=patience)
        node_rank = store.add(f"{options.rdzv_id}/nodes", 1) - 1
        if node_rank >= options.nnodes:
            raise ValueError(f"the job has {options.nnodes} nodes, and this one is number {node_rank + 1} that comes")
        return store, host, node_rank

    def environment(self, local_rank: int, attempt: int) -> dict[str, str]:
        """Return the environment of a worker: that of the agent, and torchrun's variables."""
        options, world_size = self.options, self.workers * self.options.nnodes
        rank = self.node_rank * self.workers + local_rank
        names = {
            "RANK": rank,
            "LOCAL_RANK": local_rank,
            "WORLD_SIZE": world_size,
            "LOCAL_WORLD_SIZE": self.workers,
            "GROUP_RANK": self.node_rank,
            "GROUP_WORLD_SIZE": options.nnodes,
            "ROLE_RANK": rank,
            "ROLE_WORLD_SIZE": world_size,
            "ROLE_NAME": options.role,
            "MASTER_ADDR": self.host,
            "MASTER_PORT": self.store.port,
            "TORCHELASTIC_RESTART_COUNT": attempt,
            "TORCHELASTIC_MAX_RESTARTS": options.max_restarts,
            "TORCHELASTIC_RUN_ID": options.rdzv_id,
            "TORCHELASTIC_USE_AGENT_STORE": True,
        }
        environment = {**os.environ, **{name: str(value) for name, value in names.items()}}
        if self.workers > 1:
            environment.setdefault("OMP_NUM_THREADS", "1")  # else each worker starts a thread for every processor
        if self.no_timeouts:
            environment["REFTORCH_DISTRIBUTED_NO_TIMEOUTS"] = "1"
        return environment

    def command(self, local_rank: int) -> list[str]:
        """Return the command of a worker, in which ``torch`` means reftorch if it does so in this process."""
        options = self.options
        start: list[str] = []
        if not options.no_python:
            # The flags of this interpreter, -Xfrozen_modules=off of a debugger among them.
            start = [sys.executable, *subprocess._args_from_interpreter_flags(), "-u"]  # type: ignore[attr-defined]
            start += ["-m", "reftorch"] if _places.called() == "torch" else []
            start += ["-m"] if options.module else []
        arguments = [f"--local-rank={local_rank}"] if options.local_rank_argument else []
        return [*start, options.training_script, *arguments, *options.training_script_args]

    def run(self) -> int:
        """Run the workers until all have ended well, or restarts are used up; return the exit code."""
        failed: list[WorkerProcess] | None = None
        try:
            for attempt in range(self.options.max_restarts + 1):
                shared = PrefixStore(f"{self.options.rdzv_id}/attempt_{attempt}", self.store)
                failed = self._run_once(attempt, shared)
                if failed is None:
                    break
                if attempt < self.options.max_restarts:
                    self._say(f"the workers failed; restart {attempt + 1} of {self.options.max_restarts}")
            if failed is not None:
                self._report(failed)
            self._leave_together()
        finally:
            if not self.keeps_logs:
                shutil.rmtree(self.log_dir, ignore_errors=True)
        return 0 if failed is None else 1

    def _say(self, text: str) -> None:
        print(f"[launcher, node {self.node_rank}] {text}", file=sys.stderr, flush=True)

    def _run_once(self, attempt: int, shared: Store) -> list[WorkerProcess] | None:
        """Return None if the workers of all machines ended well, else those of this machine that failed."""
        shown = self.options.local_ranks_filter
        workers: list[WorkerProcess] = []
        try:
            for i in range(self.workers):
                workers.append(
                    WorkerProcess(
                        self.command(i),
                        self.environment(i, attempt),
                        i,
                        self.log_dir / f"attempt_{attempt}" / str(i),
                        self.redirects[i],
                        self.tee[i],
                        self.options.role,
                        not shown or str(i) in shown.split(","),
                    )
                )
            ended_well = self._watch(workers, shared)
        finally:
            self._stop(workers)
        if ended_well:
            return None
        # A rank that was killed says nothing, and the others lose their connections because of it: it comes first.
        failed = [worker for worker in workers if worker.process.returncode]
        killed = {worker.rank for worker in failed if worker.process.returncode < 0 and not worker.was_stopped}
        failed = [worker for worker in failed if not worker.was_stopped or worker.error() is not None]
        return sorted(failed, key=lambda worker: (worker.rank not in killed, worker.failed_at()))

    def _watch(self, workers: list[WorkerProcess], shared: Store) -> bool:
        """Return whether the workers of all machines ended well; return at the first failure."""
        said_done = False
        while True:
            codes = [worker.poll() for worker in workers]
            if any(codes):
                time.sleep(0.3)  # others fail a moment later, because of this one; their own words are kept, too
                shared.set("failed", str(self.node_rank))
                return False
            if all(code == 0 for code in codes):
                if self.options.nnodes == 1:
                    return True
                if not said_done:
                    shared.add("done", 1)
                    said_done = True
                if shared.add("done", 0) == self.options.nnodes:
                    return True
            if self.options.nnodes > 1 and shared.check(["failed"]):
                return False
            time.sleep(self.options.monitor_interval)

    def _stop(self, workers: list[WorkerProcess]) -> None:
        for worker in workers:
            worker.stop(signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        for worker in workers:
            worker.finish(deadline - time.monotonic())

    def _report(self, failed: list[WorkerProcess]) -> None:
        """Say which worker failed first, and why: the errors of the others are mostly its consequences."""
        lines = ["", _RULE, f"{self.options.training_script} FAILED"]
        for i, worker in enumerate(failed):
            code, error = worker.process.returncode, worker.error()
            cause = f"died of signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"exit code {code}"
            when = time.strftime("%Y-%m-%d_%H:%M:%S", time.localtime(worker.failed_at()))
            title = "Root Cause (first observed failure)" if i == 0 else "Other failure"
            lines.append(f"{'-' * 60}\n{title}: rank {worker.rank} (local_rank: {worker.local_rank}, "
                         f"pid: {worker.process.pid}), {cause}, at {when}")  # fmt: skip
            if error is not None:
                lines.append(error["py_callstack"].rstrip() if i == 0 else error["message"])
        if not failed:
            lines.append("a worker of another node failed")
        if self.keeps_logs:
            lines.append(f"{'-' * 60}\nlogs: {self.log_dir}")
        print("\n".join([*lines, _RULE]), file=sys.stderr, flush=True)

    def _leave_together(self) -> None:
        """Keep node 0's store until no other agent asks it any more."""
        if self.options.nnodes == 1:
            return
        try:
            self.store.add(f"{self.options.rdzv_id}/left", 1)
            deadline = time.monotonic() + 30
            while self.node_rank == 0 and time.monotonic() < deadline:
                if self.store.add(f"{self.options.rdzv_id}/left", 0) >= self.options.nnodes:
                    break
                time.sleep(0.05)
        except (_DistNetworkError, _DistStoreError):
            pass  # node 0 has left already
