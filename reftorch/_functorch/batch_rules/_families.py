"""The batching rules of all families: importing this module registers the rules.

The first vmap imports this module, so that ``import reftorch`` does not have to.

Mirrors: aten/src/ATen/functorch/BatchRules*.cpp (their blocks TORCH_LIBRARY_IMPL)
"""

import importlib
import pkgutil

from reftorch import _C
from reftorch._functorch import batch_rules
from reftorch._functorch.batch_rules._common import RULES

for _module in pkgutil.iter_modules(batch_rules.__path__):
    if not _module.name.startswith("_"):
        importlib.import_module(f"{batch_rules.__name__}.{_module.name}")

# A composite op that has a rule runs this rule, instead of the ops of which it consists.
for _name in RULES:
    if _C._derivative_state(f"aten::{_name}") == "composite":
        _C._functorch._intercept(_name)
