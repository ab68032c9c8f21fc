// Mirrors: aten/src/ATen/native/Linear.cpp (einsum, sumproduct_pair)
//
// Sums of products over named dimensions: "ij,jk->ik" is a product of matrices. Each operand is first brought to one
// common order of dimensions, in which the dimensions of the result come first. Then the operands are contracted pair
// by pair, each pair by one bmm. Left out: a search for the best order of pairs (PyTorch asks the package opt_einsum);
// the argument `path` gives an order.
#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <string>
#include <vector>

namespace reftorch::at::native {
namespace {

// A subscript is stored as a number: A-Z, a-z, then one number for all dimensions of an ellipsis.
constexpr int kEllipsis = 52, kLabels = 53;
using Labels = std::vector<int>;

int label_of(char subscript) {
  return std::isupper(subscript) ? subscript - 'A' : subscript - 'a' + 26;
}
char subscript_of(int label) {
  return static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26);
}

// Reads the subscript at `place` and moves `place` behind it. `seen_ellipsis` belongs to the operand, or to the output,
// that is being read.
int read_label(const std::string& equation, size_t& place, bool& seen_ellipsis, const std::string& where) {
  const char c = equation[place];
  if (c != '.') {
    TORCH_CHECK(std::isalpha(static_cast<unsigned char>(c)), "einsum(): invalid subscript given at index ", place,
                " in the equation string, subscripts must be in [a-zA-Z]");
    place++;
    return label_of(c);
  }
  TORCH_CHECK(
      !seen_ellipsis, "einsum(): found '.' for ", where,
      where == "output" ? " but an ellipsis (...) was already found" : " for which an ellipsis was already found");
  TORCH_CHECK(equation.compare(place, 3, "...") == 0, "einsum(): found '.' for ", where,
              " that is not part of any ellipsis", where == "output" ? " (...)" : "");
  seen_ellipsis = true;
  place += 3;
  return kEllipsis;
}

struct Equation {
  std::vector<Labels> operands;
  Labels output;
};

// Without an arrow, the result has the ellipsis first and then, in order, the subscripts that occur once.
Labels implied_output(const std::vector<Labels>& operands) {
  std::array<int, kLabels> count = {};
  for (const Labels& labels : operands) {
    for (int label : labels) {
      count[label]++;
    }
  }
  Labels output;
  if (count[kEllipsis] > 0) {
    output.push_back(kEllipsis);
  }
  for (int label = 0; label < kEllipsis; label++) {
    if (count[label] == 1) {
      output.push_back(label);
    }
  }
  return output;
}

Labels parse_output(const std::string& equation, size_t place, const std::vector<Labels>& operands) {
  Labels output;
  bool ellipsis = false;
  while (place < equation.size()) {
    if (equation[place] == ' ') {
      place++;
      continue;
    }
    const int label = read_label(equation, place, ellipsis, "output");
    if (label != kEllipsis) {
      const char subscript = subscript_of(label);
      TORCH_CHECK(std::count(output.begin(), output.end(), label) == 0, "einsum(): output subscript ", subscript,
                  " appears more than once in the output");
      TORCH_CHECK(std::any_of(operands.begin(), operands.end(),
                              [&](const Labels& l) { return std::count(l.begin(), l.end(), label) > 0; }),
                  "einsum(): output subscript ", subscript, " does not appear in the equation for any input operand");
    }
    output.push_back(label);
  }
  return output;
}

Equation parse(const std::string& equation, size_t num_operands) {
  const size_t arrow = equation.find("->");
  const std::string left = equation.substr(0, arrow);
  Equation parsed;
  parsed.operands.resize(num_operands);
  size_t current = 0;
  bool ellipsis = false;
  for (size_t place = 0; place < left.size();) {
    if (left[place] == ' ') {
      place++;
    } else if (left[place] == ',') {
      place++;
      current++;
      ellipsis = false;
      TORCH_CHECK(current < num_operands, "einsum(): fewer operands were provided than specified in the equation");
    } else {
      parsed.operands[current].push_back(read_label(left, place, ellipsis, c10::str("operand ", current)));
    }
  }
  TORCH_CHECK(current == num_operands - 1, "einsum(): more operands were provided than specified in the equation");
  parsed.output =
      arrow == std::string::npos ? implied_output(parsed.operands) : parse_output(equation, arrow + 2, parsed.operands);
  return parsed;
}

// The number of dimensions that the ellipsis of an operand stands for; 0 without an ellipsis.
int64_t ellipsis_dims(const Labels& labels, const Tensor& operand, size_t position) {
  const bool ellipsis = std::count(labels.begin(), labels.end(), kEllipsis) > 0;
  const int64_t named = static_cast<int64_t>(labels.size()) - ellipsis;
  TORCH_CHECK(ellipsis ? named <= operand.dim() : named == operand.dim(),
              "einsum(): the number of subscripts in the equation (", named,
              ellipsis ? ") is more than the number of " : ") does not match the number of ", "dimensions (",
              operand.dim(), ") for operand ", position, ellipsis ? "" : " and no ellipsis was given");
  return ellipsis ? operand.dim() - named : 0;
}

// The common order of dimensions that all operands are brought to.
struct Order {
  std::array<int64_t, kLabels> place; // of each label; for the ellipsis, of its first dimension
  int64_t num_ellipsis = 0;
  int64_t num_output = 0; // the dimensions of the result, which come first
  int64_t num_dims = 0;
};

Order order_of(const Equation& equation, int64_t num_ellipsis) {
  Order order;
  order.place.fill(-1);
  order.num_ellipsis = num_ellipsis;
  auto append = [&](int label) {
    order.place[label] = order.num_dims;
    order.num_dims += label == kEllipsis ? num_ellipsis : 1;
  };
  for (int label : equation.output) {
    append(label);
  }
  order.num_output = order.num_dims;
  if (order.place[kEllipsis] == -1) {
    append(kEllipsis);
  }
  for (int label = 0; label < kEllipsis; label++) {
    for (const Labels& labels : equation.operands) {
      if (order.place[label] == -1 && std::count(labels.begin(), labels.end(), label) > 0) {
        append(label);
      }
    }
  }
  return order;
}

// The facts about one dimension that follow from all operands.
struct Dimension {
  int64_t size = 1;
  int users = 0; // the number of operands in which the size is not 1
};

// Brings an operand to the common order: a repeated subscript becomes a diagonal, and a missing subscript becomes a
// dimension of size 1.
Tensor arranged(Tensor operand, const Labels& labels, const Order& order, std::vector<Dimension>& dims,
                size_t position) {
  // the position that each dimension of the order has now
  DimVector permutation(static_cast<size_t>(order.num_dims), -1);
  const int64_t covered = ellipsis_dims(labels, operand, position);
  int64_t dim = 0;
  auto note = [&](int64_t target, auto&&... what) {
    const int64_t size = operand.sizes()[dim];
    if (size != 1) {
      TORCH_CHECK(dims[target].size == 1 || dims[target].size == size, "einsum(): ", what..., " has size ", size,
                  " for operand ", position, " which does not broadcast with previously seen size ", dims[target].size);
      dims[target].size = size;
      dims[target].users++;
    }
    permutation[target] = dim++;
  };
  for (int label : labels) {
    if (label == kEllipsis) {
      for (int64_t k = order.num_ellipsis - covered; k < order.num_ellipsis; k++) {
        note(order.place[kEllipsis] + k, "dimension ", dim, " covered by ellipsis");
      }
      continue;
    }
    const int64_t target = order.place[label];
    if (permutation[target] == -1) {
      note(target, "subscript ", subscript_of(label));
      continue;
    }
    const int64_t first = permutation[target];
    TORCH_CHECK(operand.sizes()[dim] == operand.sizes()[first], "einsum(): subscript ", subscript_of(label),
                " is repeated for operand ", position, " but the sizes don't match, ", operand.sizes()[dim],
                " != ", operand.sizes()[first]);
    operand = at::movedim(at::diagonal(operand, 0, first, dim), IntArrayRef(-1), IntArrayRef(first));
  }
  for (int64_t& place : permutation) {
    if (place == -1) {
      operand = at::unsqueeze(operand, dim);
      place = dim++;
    }
  }
  return at::permute(operand, permutation);
}

// The product of two tensors in the common order, summed over `sum_dims`, which keep size 1. A dimension that is in
// both tensors and in the result becomes part of the batch of a bmm. A dimension of one tensor only becomes part of the
// rows or columns, and a summed dimension becomes part of the inner dimension.
Tensor sumproduct_pair(Tensor left, Tensor right, const DimVector& sum_dims) {
  if (sum_dims.empty()) {
    return at::mul(left, right);
  }
  const auto summed = dim_list_to_bitset(sum_dims, left.dim());
  DimVector both, only_left, only_right;
  int64_t both_size = 1, left_size = 1, right_size = 1, sum_size = 1;
  for (int64_t d = 0; d < left.dim(); d++) {
    const int64_t l = left.sizes()[d], r = right.sizes()[d];
    if (summed[d]) {
      sum_size *= l;
    } else if (l != 1 && r != 1) {
      both.push_back(d);
      both_size *= l;
    } else if (l != 1) {
      only_left.push_back(d);
      left_size *= l;
    } else {
      only_right.push_back(d);
      right_size *= r;
    }
  }
  const auto column = std::find_if(only_right.begin(), only_right.end(), [&](int64_t d) { return right.size(d) != 1; });
  if (!only_left.empty() && column != only_right.end() && *column < only_left[0]) {
    // The result of bmm has the rows of the left operand before the columns of the right one. The operands are swapped
    // if this gives the requested order.
    std::swap(left, right);
    std::swap(only_left, only_right);
    std::swap(left_size, right_size);
  }
  auto concatenated = [](std::initializer_list<const DimVector*> lists) {
    DimVector all;
    for (const DimVector* list : lists) {
      all.append(list->begin(), list->end());
    }
    return all;
  };
  const DimVector result_order = concatenated({&both, &only_left, &sum_dims, &only_right});
  DimVector sizes, back(result_order.size());
  for (size_t i = 0; i < result_order.size(); i++) {
    const int64_t d = result_order[i];
    sizes.push_back(summed[d] ? 1 : left.sizes()[d] != 1 ? left.sizes()[d] : right.sizes()[d]);
    back[d] = static_cast<int64_t>(i);
  }
  left = at::reshape(at::permute(left, result_order), {both_size, left_size, sum_size});
  right = at::reshape(at::permute(right, concatenated({&both, &sum_dims, &only_right, &only_left})),
                      {both_size, sum_size, right_size});
  return at::permute(at::view(at::bmm(left, right), sizes), back);
}

// Contracts two operands, and sums each dimension that no other operand still needs.
Tensor contract(Tensor a, Tensor b, const Order& order, std::vector<Dimension>& dims) {
  DimVector sum_dims, of_a, of_b;
  for (int64_t d = order.num_output; d < order.num_dims; d++) {
    const bool in_a = a.sizes()[d] != 1, in_b = b.sizes()[d] != 1;
    if (in_a && in_b) {
      if (--dims[d].users == 1) {
        sum_dims.push_back(d);
        dims[d].users = 0;
      }
    } else if (dims[d].users == 1 && (in_a || in_b)) {
      (in_a ? of_a : of_b).push_back(d);
      dims[d].users = 0;
    }
  }
  a = of_a.empty() ? a : at::sum(a, of_a, /*keepdim=*/true);
  b = of_b.empty() ? b : at::sum(b, of_b, /*keepdim=*/true);
  return sumproduct_pair(a, b, sum_dims);
}

Tensor take(std::vector<Tensor>& operands, int64_t i) {
  Tensor taken = operands[i];
  operands.erase(operands.begin() + i);
  return taken;
}

Tensor einsum(std::string equation, TensorList tensors, std::optional<IntArrayRef> path) {
  TORCH_CHECK(!tensors.empty(), "einsum(): must provide at least one operand");
  const Equation parsed = parse(equation, tensors.size());
  int64_t num_ellipsis = 0;
  for (size_t i = 0; i < tensors.size(); i++) {
    num_ellipsis = std::max(num_ellipsis, ellipsis_dims(parsed.operands[i], tensors[i], i));
  }
  const Order order = order_of(parsed, num_ellipsis);
  std::vector<Dimension> dims(static_cast<size_t>(order.num_dims));
  std::vector<Tensor> operands;
  for (size_t i = 0; i < tensors.size(); i++) {
    operands.push_back(arranged(tensors[i], parsed.operands[i], order, dims, i));
  }
  TORCH_CHECK(!path.has_value() || path->size() == 2 * (tensors.size() - 1),
              "einsum(): expected contraction path given in path parameter to have size ", 2 * (tensors.size() - 1),
              " but got ", path.has_value() ? path->size() : 0);
  for (size_t step = 0; operands.size() > 1; step++) {
    int64_t i = path.has_value() ? (*path)[2 * step] : 0, j = path.has_value() ? (*path)[2 * step + 1] : 1;
    if (j < i) {
      std::swap(i, j);
    }
    TORCH_CHECK(0 <= i && i != j && j < static_cast<int64_t>(operands.size()), "einsum(): invalid contraction tuple (",
                i, ", ", j, ") in contraction path");
    const Tensor b = take(operands, j), a = take(operands, i);
    operands.insert(path.has_value() ? operands.end() : operands.begin(), contract(a, b, order, dims));
  }
  const Tensor& result = operands[0];
  if (order.num_dims == order.num_output) {
    return result;
  }
  if (tensors.size() > 1) { // the summed dimensions all have size 1 by now
    return at::view(result, result.sizes().slice(0, order.num_output));
  }
  DimVector rest(static_cast<size_t>(order.num_dims - order.num_output));
  std::iota(rest.begin(), rest.end(), order.num_output);
  return at::sum(result, rest);
}

} // namespace

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_composite("einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor", TORCH_FN(einsum),
                  variants::FUNCTION);
}

} // namespace reftorch::at::native
