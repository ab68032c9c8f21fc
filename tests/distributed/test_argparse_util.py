"""Options that read the environment.

Mirrors: test/distributed/argparse_util_test.py
"""

from __future__ import annotations

import argparse
import importlib
from typing import Any

import pytest


def parsed(lib: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    util = importlib.import_module(f"{lib.__name__}.distributed.argparse_util")
    seen: list[Any] = []
    for variables in ({}, {"PET_FOO": "of the environment", "PET_VERBOSE": "1"}, {"PET_VERBOSE": "0"}):
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            parser = argparse.ArgumentParser()
            parser.add_argument("-f", "--foo", action=util.env, default="given")
            parser.add_argument("--verbose", action=util.check_env)
            for line in ([], ["-f", "bar"], ["--foo", "bar", "--verbose"]):
                seen.append(sorted(vars(parser.parse_args(line)).items()))
            strict = argparse.ArgumentParser()
            strict.add_argument("--foo", action=util.env, required=True)
            try:
                seen.append(strict.parse_args([]).foo)
            except SystemExit:
                seen.append("missing")
    return seen


def test_defaults_come_from_the_environment(real_torch: Any, noted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import reftorch

    assert parsed(reftorch, monkeypatch) == noted(parsed(real_torch, monkeypatch))
