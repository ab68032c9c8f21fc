// Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (linalg_multi_dot, chain_matmul, linalg_matrix_power)
//
// Products of several matrices, in the order that needs the fewest multiplications.
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <ATen/native/LinearAlgebraUtils.h>
#include <ATen/native/TypeMetaName.h>

#include <limits>
#include <vector>

namespace reftorch::at::native {

// Finds where to split each chain of matrices by dynamic programming: the cost of a chain i..j follows from the costs
// of shorter chains. Matrix i is (sizes[i], sizes[i + 1]). best[i][j] is the k at which the last product of the chain
// i..j splits it: (i..k) @ (k + 1..j).
static std::vector<std::vector<int64_t>> matrix_chain_order(const std::vector<int64_t>& sizes) {
  const int64_t n = static_cast<int64_t>(sizes.size()) - 1;
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<int64_t>> best(n, std::vector<int64_t>(n, 0));
  for (int64_t length = 1; length < n; length++) {
    for (int64_t i = 0; i + length < n; i++) {
      const int64_t j = i + length;
      cost[i][j] = std::numeric_limits<double>::infinity();
      for (int64_t k = i; k < j; k++) {
        const double product = double(sizes[i]) * double(sizes[k + 1]) * double(sizes[j + 1]);
        const double total = cost[i][k] + cost[k + 1][j] + product;
        if (total < cost[i][j]) {
          cost[i][j] = total;
          best[i][j] = k;
        }
      }
    }
  }
  return best;
}

static Tensor chain_product(const std::vector<Tensor>& matrices, const std::vector<std::vector<int64_t>>& best,
                            int64_t i, int64_t j) {
  if (i == j) {
    return matrices[i];
  }
  return at::mm(chain_product(matrices, best, i, best[i][j]), chain_product(matrices, best, best[i][j] + 1, j));
}

// The first tensor may be a vector, which counts as a row, and the last one too, which counts as a column.
static Tensor multi_dot(TensorList tensors) {
  const size_t n = tensors.size();
  TORCH_CHECK(n >= 2, "multi_dot(): expected at least 2 tensors but got ", n);
  std::vector<Tensor> matrices(tensors.begin(), tensors.end());
  DimVector result_sizes;
  TORCH_CHECK(tensors[0].dim() == 1 || tensors[0].dim() == 2, "multi_dot(): the first tensor must be 1D or 2D but got ",
              tensors[0].dim(), "D");
  TORCH_CHECK(tensors[n - 1].dim() == 1 || tensors[n - 1].dim() == 2,
              "multi_dot(): the last tensor must be 1D or 2D but got ", tensors[n - 1].dim(), "D");
  if (tensors[0].dim() == 1) {
    matrices[0] = at::unsqueeze(tensors[0], 0);
  } else {
    result_sizes.push_back(tensors[0].sizes()[0]);
  }
  if (tensors[n - 1].dim() == 1) {
    matrices[n - 1] = at::unsqueeze(tensors[n - 1], -1);
  } else {
    result_sizes.push_back(tensors[n - 1].sizes()[1]);
  }
  for (size_t i = 1; i + 1 < n; i++) {
    TORCH_CHECK(tensors[i].dim() == 2, "multi_dot(): tensor ", i, " must be 2D but got ", tensors[i].dim(), "D");
  }
  for (size_t i = 0; i + 1 < n; i++) {
    TORCH_CHECK(tensors[0].scalar_type() == tensors[i + 1].scalar_type(),
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is ",
                type_meta_name(tensors[0].scalar_type()), " and tensor ", i + 1, " ",
                type_meta_name(tensors[i + 1].scalar_type()));
    TORCH_CHECK(matrices[i].sizes()[1] == matrices[i + 1].sizes()[0], "multi_dot(): tensors ", i, " and ", i + 1,
                " with shapes ", tensors[i].sizes(), " and ", tensors[i + 1].sizes(), " cannot be multiplied");
  }
  std::vector<int64_t> sizes = {matrices[0].sizes()[0]};
  for (const Tensor& matrix : matrices) {
    sizes.push_back(matrix.sizes()[1]);
  }
  const Tensor product = chain_product(matrices, matrix_chain_order(sizes), 0, static_cast<int64_t>(n) - 1);
  return at::view(product, result_sizes);
}

static Tensor chain_matmul(TensorList matrices) {
  for (size_t i = 0; i < matrices.size(); i++) {
    TORCH_CHECK(matrices[i].dim() == 2, "Tensor dimension is ", matrices[i].dim(), ", expected 2 instead.");
  }
  TORCH_CHECK(!matrices.empty(), "chain_matmul(): Expected one or more matrices");
  return matrices.size() == 1 ? at::clone(matrices[0]) : at::linalg_multi_dot(matrices);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_composite_with_out("linalg_multi_dot(Tensor[] tensors) -> Tensor", TORCH_FN(multi_dot), variants::LINALG);
  m.def_composite_with_out("chain_matmul(Tensor[] matrices) -> Tensor", TORCH_FN(chain_matmul), variants::FUNCTION);
}

} // namespace reftorch::at::native
