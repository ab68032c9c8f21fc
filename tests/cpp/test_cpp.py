"""Every C++ test case as a pytest test of its own, each in a process of its own.

Mirrors: nothing in PyTorch: it runs its GoogleTest binaries from shell scripts.
"""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = ROOT / "build" / os.environ.get("REFTORCH_BUILD", "debug").capitalize() / "reftorch_tests"
MEND = f"{BINARY} is not built. Run: make test"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    # The cases of c10/cuda need simulated devices; the others test how the core does without.
    devices = {"REFTORCH_CUDA_SIM": "2"} if arguments[0].startswith("--test-case=cuda sim") else {}
    return subprocess.run(
        [BINARY, *arguments], text=True, capture_output=True, timeout=300, env={**os.environ, **devices}
    )


def case_names() -> list[str]:
    if not BINARY.exists():
        return []
    listed = run("--list-test-cases", "--no-intro", "--no-version").stdout.splitlines()
    return [line for line in listed if line and not line.startswith(("[doctest]", "===="))]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        names = case_names()
        metafunc.parametrize("case", names or [None], ids=names or ["not built"])


def test_case(case: str | None) -> None:
    assert case is not None, MEND
    escaped = case.replace("\\", "\\\\").replace(",", "\\,")
    done = run(f"--test-case={escaped}", "--no-intro", "--no-version")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout, f"the filter did not find the case:\n{done.stdout}"
