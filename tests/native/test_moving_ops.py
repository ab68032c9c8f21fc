"""The ops that move elements, look at them in another way, or make them, over every dtype and layout; matrix products.

Mirrors: test/test_ops.py

Their special cases and errors are in test_tensor_shape.py and its neighbours.
"""

import pytest

from tests.op_db.suite import OpTests

# torch warns of ops that may change.
pytestmark = [
    pytest.mark.filterwarnings("ignore:index_reduce"),
    pytest.mark.filterwarnings("ignore:torch.* is deprecated"),
    pytest.mark.filterwarnings("ignore:The reduce argument of torch.scatter"),
]


class TestRows(OpTests):
    FAMILIES = """
        batch_linear_algebra blas distributions distributions_more einsum fill householder_products
        index_along_dim index_factories itertools ldl_factors linear_algebra linear_algebra_norms masked_ops onehot
        matmul matrix_chain matrix_factors random_factories range_factories repeat scatter_gather_ops
        shape_composites tensor_advanced_indexing tensor_conversions tensor_factories tensor_join tensor_shape
        tensor_slicing tensor_split tensor_stack tensor_transformations tensordot triangular_ops unfold
        view_copies view_scatter window_factories
    """
