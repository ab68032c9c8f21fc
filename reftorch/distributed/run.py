"""The launcher: starts a program in several processes, on one machine or on several.

    python -m reftorch.distributed.run --standalone --nproc-per-node 2 train.py --epochs 3

On two machines, each of which starts two processes:

    python -m reftorch.distributed.run --nnodes 2 --node-rank 0 --master-addr hostA --nproc-per-node 2 train.py
    python -m reftorch.distributed.run --nnodes 2 --node-rank 1 --master-addr hostA --nproc-per-node 2 train.py

The program finds its place in the environment (RANK, LOCAL_RANK, WORLD_SIZE, ...), and ``init_process_group`` reads it
there. If a process fails, all are ended, the one that failed first is named with its traceback, and with
``--max-restarts`` all start again. Nothing is left behind: a process ends with the launcher, even if that is killed.

Mirrors: torch/distributed/run.py
Leaves out: machines that join and leave (``--nnodes 1:4``), other rendezvous than a TCPStore, NUMA binding, event logs.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from reftorch._C import _DistNetworkError
from reftorch.distributed.elastic.agent.server.local_elastic_agent import LocalElasticAgent
from reftorch.distributed.elastic.multiprocessing.api import SignalException

__all__ = ["determine_local_world_size", "get_args_parser", "main", "parse_args", "run"]


def get_args_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line. Each option may also be given by a variable, ``PET_NNODES`` for example.

    Mirrors torch/distributed/run.py, ``get_args_parser``.
    """
    parser = argparse.ArgumentParser(
        prog="python -m reftorch.distributed.run",
        description="Start a program in several processes, on one machine or on several.",
        allow_abbrev=False,
    )

    def option(name: str, *short: str, default: Any = None, flag: bool = False, **settings: Any) -> None:
        """Add --nproc-per-node and --nproc_per_node."""
        names = [*short, *dict.fromkeys((f"--{name}", f"--{name.replace('-', '_')}"))]
        variable = os.environ.get(f"PET_{name.upper().replace('-', '_')}")
        if flag:
            parser.add_argument(*names, action="store_true", default=variable == "1", **settings)
        else:
            parser.add_argument(*names, default=default if variable is None else variable, **settings)

    option("nnodes", default="1", type=_nodes, help="the number of machines")
    option("nproc-per-node", default="1", help="processes on this machine: a number, cpu, gpu or auto")
    option("node-rank", type=int, help="the number of this machine; without it, the order in which they come counts")
    option("rdzv-backend", default="c10d", choices=["c10d", "static"], help="both are a store of node 0")
    option("rdzv-endpoint", default="", help="HOST:PORT of node 0; in place of --master-addr and --master-port")
    option("rdzv-id", default="none", help="the name of the job")
    option("rdzv-timeout", default=600.0, type=float, help="how many seconds to wait for the other machines")
    option("standalone", flag=True, help="one machine, on any free port")
    option("master-addr", default="127.0.0.1", help="the address of node 0")
    option("master-port", default=29500, type=int, help="a free port of node 0")
    option("max-restarts", default=0, type=int, help="how often all processes start again after a failure")
    option("monitor-interval", default=0.1, type=float, help="seconds between two looks at the processes")
    option("role", default="default", help="what stands before the number of a process in --tee")
    option("log-dir", help="a folder for the output of the processes")
    option("redirects", "-r", default="0", help="what goes to files: 1 stdout, 2 stderr, 3 both; or 0:3,1:1")
    option("tee", "-t", default="0", help="what goes to files and, with a number before each line, to this terminal")
    option("local-ranks-filter", default="", help="show the output of these processes alone: 0,2")
    option("module", "-m", flag=True, help="the program is a module")
    option("no-python", flag=True, help="the program is not a Python program")
    parser.add_argument("training_script", help="the program")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    parser.set_defaults(local_rank_argument=False)
    return parser


def _nodes(text: str) -> int:
    smallest, _, largest = text.partition(":")
    if largest and largest != smallest:
        raise argparse.ArgumentTypeError(f"machines cannot join and leave here: expected one number, got {text}")
    return int(smallest)


def parse_args(args: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of a command line.

    Example:
        >>> from reftorch.distributed.run import parse_args
        >>> options = parse_args(["--nproc-per-node", "2", "train.py", "--epochs", "3"])
        >>> options.training_script, options.training_script_args
        ('train.py', ['--epochs', '3'])

    Mirrors torch/distributed/run.py, ``parse_args``.
    """
    return get_args_parser().parse_args(args)


def determine_local_world_size(nproc_per_node: str) -> int:
    """Return the number of processes: a number, the processors for ``cpu``, the devices for ``gpu``.

    ``auto`` stands for the devices if there are any, and for the processors otherwise.

    Raises:
        ValueError: the text is none of these, or there is no device.

    Example:
        >>> from reftorch.distributed.run import determine_local_world_size
        >>> determine_local_world_size("3")
        3

    Mirrors torch/distributed/run.py, ``determine_local_world_size``.
    """
    if nproc_per_node in ("gpu", "auto"):
        import reftorch.cuda

        devices = reftorch.cuda.device_count()
        if devices:
            return devices
        if nproc_per_node == "gpu":
            raise ValueError("Cuda is not available. Hint: --nproc-per-node cpu counts processors")
    if nproc_per_node in ("cpu", "auto"):
        return len(os.sched_getaffinity(0))
    try:
        number = int(nproc_per_node)
    except ValueError:
        number = 0
    if number < 1:
        raise ValueError(f"Unsupported nproc_per_node value: {nproc_per_node}; expected a number, cpu, gpu or auto")
    return number


def _is_debugged() -> bool:
    """Return whether debugpy or gdb is in this process; debugpy then comes to the workers, too."""
    if "debugpy" in sys.modules or "pydevd" in sys.modules:
        return True
    with open("/proc/self/status", encoding="utf-8") as status:
        return any(line.startswith("TracerPid:") and int(line.split()[1]) != 0 for line in status)


def _raise(number: int, frame: Any) -> None:
    name = signal.Signals(number).name
    raise SignalException(f"got signal {name}", signal.Signals(number))


def run(options: argparse.Namespace) -> int:
    """Start the processes, wait for them, and return the exit code: 0, or 1 if one failed for good.

    Mirrors torch/distributed/run.py, ``run``.
    """
    handlers = {
        number: signal.signal(number, _raise)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
    }
    try:
        agent = LocalElasticAgent(options, determine_local_world_size(options.nproc_per_node))
        if _is_debugged():
            agent.no_timeouts = True
            print("[launcher] a debugger is here: the time-outs of groups are lifted", file=sys.stderr, flush=True)
        return agent.run()
    except SignalException as error:
        print(f"[launcher] {error}; the processes have been ended", file=sys.stderr, flush=True)
        return 128 + error.sigval
    except (ValueError, _DistNetworkError) as error:
        print(f"[launcher] {error}", file=sys.stderr, flush=True)
        return 2
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def main(args: Sequence[str] | None = None) -> int:
    """Run the launcher with the arguments of a command line, and return the exit code.

    Mirrors torch/distributed/run.py, ``main``.
    """
    return run(parse_args(args))


if __name__ == "__main__":
    sys.exit(main())
