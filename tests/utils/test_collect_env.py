"""The text of the facts is PyTorch's.

Mirrors: test/test_utils.py (``TestCollectEnv``)
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.utils import collect_env

NO_GPU = dict.fromkeys(("cuda_runtime_version", "nvidia_gpu_models", "nvidia_driver_version", "cuda_compiled_version"))
CHANGES: list[dict[str, Any]] = [
    {},
    {**NO_GPU, "cudnn_version": None, "pip_packages": "", "caching_allocator_config": {}},
    {"nvidia_gpu_models": "GPU 0: a\nGPU 1: b", "conda_packages": None, "gcc_version": None, "pip_packages": None},
    {"is_debug_build": True, "is_xpu_available": False, "caching_allocator_config": {"PYTORCH_ALLOC_CONF": "a:b"}},
]


def test_the_text(real_torch: ModuleType, noted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reftorch.cuda, "is_available", lambda: False)  # torch is the one without CUDA

    def texts(module: Any) -> list[Any]:
        facts = {name: f"<{name}>" for name in module.SystemEnv._fields}
        return [
            list(facts),
            *(module.pretty_str(module.SystemEnv(**{**facts, **change})) for change in CHANGES),
        ]

    assert texts(collect_env) == noted(texts(real_torch.utils.collect_env))


def test_the_facts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PYTORCH_ALLOC_CONF", "max_split_size_mb:20")
    facts = collect_env.get_env_info()
    assert facts.torch_version == reftorch.__version__ and facts.is_cuda_available == str(reftorch.cuda.is_available())
    assert facts.caching_allocator_config["PYTORCH_ALLOC_CONF"] == "max_split_size_mb:20"
    assert "numpy==" in (facts.pip_packages or "") and facts.os and "bit runtime" in facts.python_version
    monkeypatch.setattr(collect_env, "get_env_info", lambda: facts)
    collect_env.main()
    assert capsys.readouterr().out == f"Collecting environment information...\n{collect_env.pretty_str(facts)}\n"


def test_a_program_that_is_not_there_tells_nothing() -> None:
    assert collect_env._said("no-such-program") is None
    assert collect_env._said("false") is None
    assert collect_env._said("echo", "version 3.4", find=r"version (.*)") == "3.4"
    assert collect_env._said("echo", "3.4", find=r"version (.*)") is None
