"""Options of a command line whose defaults come from environment variables.

Mirrors: torch/distributed/argparse_util.py
"""

from __future__ import annotations

import os
from argparse import Action
from typing import Any

__all__ = ["check_env", "env"]


class env(Action):
    """An action that stores a value; its default is the variable ``PET_<name>`` if the environment has it.

    An option that is required need not be given if the variable is there.

    Example:
        >>> import argparse, os
        >>> from reftorch.distributed.argparse_util import env
        >>> parser = argparse.ArgumentParser()
        >>> os.environ["PET_COLOUR"] = "green"
        >>> action = parser.add_argument("--colour", action=env, default="red")
        >>> del os.environ["PET_COLOUR"]
        >>> parser.parse_args([]).colour, parser.parse_args(["--colour", "blue"]).colour
        ('green', 'blue')

    Mirrors torch/distributed/argparse_util.py, ``env``.
    """

    def __init__(self, dest: str, default: Any = None, required: bool = False, **kwargs: Any) -> None:
        default = os.environ.get(f"PET_{dest.upper()}", default)
        super().__init__(dest=dest, default=default, required=required and not default, **kwargs)

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        setattr(namespace, self.dest, values)


class check_env(Action):
    """An action for a switch, which is on if it is given, or if the variable ``PET_<name>`` is a number other than 0.

    Mirrors torch/distributed/argparse_util.py, ``check_env``.
    """

    def __init__(self, dest: str, default: Any = False, **kwargs: Any) -> None:
        default = bool(int(os.environ.get(f"PET_{dest.upper()}", "1" if default else "0")))
        super().__init__(dest=dest, const=True, default=default, nargs=0, **kwargs)

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        setattr(namespace, self.dest, self.const)
