"""What the examples of docstrings may use without importing it: ``torch``, which is reftorch.

Mirrors: docs/source/conf.py (``doctest_global_setup``, which imports torch for the examples of PyTorch's docs)
"""

from typing import Any

import pytest


@pytest.fixture(autouse=True, scope="session")
def _torch_for_examples(doctest_namespace: dict[str, Any]) -> None:
    import reftorch

    doctest_namespace["torch"] = reftorch
