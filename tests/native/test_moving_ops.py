"""The ops that move elements, look at them in another way, or make them, over every dtype and layout; matrix products.

Mirrors: test/test_ops.py

Their special cases and errors are in test_tensor_shape.py and its neighbours.
"""

import pytest

from tests.op_db import decompositions, factories, indexing, linalg, shape
from tests.op_db.suite import OpTests

# torch warns of ops that may change.
pytestmark = [
    pytest.mark.filterwarnings("ignore:index_reduce"),
    pytest.mark.filterwarnings("ignore:torch.* is deprecated"),
    pytest.mark.filterwarnings("ignore:The reduce argument of torch.scatter"),
]


class TestRows(OpTests):
    ROWS = [*shape.ROWS, *indexing.ROWS, *indexing.IN_PLACE, *linalg.ROWS, *decompositions.ROWS, *factories.COPIES]
    SPECIAL = [*factories.FACTORIES, *factories.RANDOM, *indexing.SPECIAL]
