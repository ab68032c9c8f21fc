"""The launcher by its old name, which gives the program its number as the argument ``--local-rank``.

    python -m reftorch.distributed.launch --nproc-per-node 2 train.py

Mirrors: torch/distributed/launch.py
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from reftorch._warnings import warn
from reftorch.distributed.run import get_args_parser, run

__all__ = ["launch", "main"]


def main(args: Sequence[str] | None = None) -> int:
    """Run the launcher with the arguments of a command line, and return the exit code.

    Mirrors torch/distributed/launch.py, ``main``.
    """
    warn(
        "The module torch.distributed.launch is deprecated and going to be removed in future. Migrate to torchrun, "
        "which is `python -m reftorch.distributed.run` here. It gives the local rank in os.environ['LOCAL_RANK'], and "
        "not as an argument.",
        FutureWarning,
    )
    parser = get_args_parser()
    parser.add_argument("--use-env", "--use_env", action="store_true", help="give the number in LOCAL_RANK alone")
    options = parser.parse_args(args)
    options.local_rank_argument = not options.use_env
    return run(options)


launch = main

if __name__ == "__main__":
    sys.exit(main())
