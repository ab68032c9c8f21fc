"""The switches that programs set.

Mirrors: torch/fx/experimental/_config.py
"""

import pytest

from reftorch.fx.experimental import _config


def test_a_context_and_a_decorator_change_switches() -> None:
    @_config.patch("enrich_profiler_metadata", True)
    def inside() -> bool:
        return _config.enrich_profiler_metadata

    assert inside() and not _config.enrich_profiler_metadata
    with _config.patch({"use_duck_shape": False}, print_data_dependent_errors=True):
        assert (_config.use_duck_shape, _config.print_data_dependent_errors) == (False, True)
    assert (_config.use_duck_shape, _config.print_data_dependent_errors) == (True, False)
    with pytest.raises(AttributeError), _config.patch("no_such_switch", 1):
        pass
