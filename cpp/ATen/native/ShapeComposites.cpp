// Mirrors: aten/src/ATen/native/TensorShape.cpp (flatten, unflatten, movedim, swapaxes, numpy_T, mT, ...)
//
// Shape ops composed of other shape ops.
#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>

#include <algorithm>
#include <string>

namespace reftorch::at::native {

static Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  start_dim = maybe_wrap_dim(start_dim, self.dim());
  end_dim = maybe_wrap_dim(end_dim, self.dim());
  TORCH_CHECK(start_dim <= end_dim, "flatten() has invalid args: start_dim cannot come after end_dim");
  if (self.dim() == 0) {
    return at::reshape(self, {1});
  }
  if (start_dim == end_dim) {
    return self;
  }
  DimVector shape(self.sizes().slice(0, start_dim));
  int64_t merged = 1;
  for (int64_t d = start_dim; d <= end_dim; d++) {
    merged *= self.sizes()[d];
  }
  shape.push_back(merged);
  shape.append(self.sizes().begin() + end_dim + 1, self.sizes().end());
  return at::reshape(self, shape);
}

// infer_size, with error messages for unflatten.
static DimVector inferred_part(IntArrayRef sizes, int64_t dim, int64_t size) {
  try {
    return infer_size(sizes, size);
  } catch (const c10::Error& error) {
    const std::string what = error.what();
    TORCH_CHECK(what.find("is invalid for input of size") == std::string::npos, "unflatten: Provided sizes ", sizes,
                " don't multiply up to the size of dim ", dim, " (", size, ") in the input tensor");
    TORCH_CHECK(false, "unflatten got an unexpected error:\n", what);
    return DimVector();
  }
}

static Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  dim = maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK(!sizes.empty(), "unflatten: sizes must be non-empty");
  TORCH_CHECK(self.dim() > 0, "unflatten got an unexpected error:\nDimension specified as ", dim,
              " but tensor has no dimensions");
  const DimVector full = inferred_part(sizes, dim, self.size(dim));
  DimVector shape(self.sizes().slice(0, dim));
  shape.append(full.begin(), full.end());
  shape.append(self.sizes().begin() + dim + 1, self.sizes().end());
  return at::view(self, shape);
}

static Tensor ravel(const Tensor& self) {
  return at::reshape(self.contiguous(), {-1});
}

// --- order of dimensions ---------------------------------------------------------------------------------------------

static DimVector wrapped_dims(IntArrayRef dims, int64_t ndim) {
  DimVector wrapped;
  for (int64_t d : dims) {
    wrapped.push_back(maybe_wrap_dim(d, ndim));
  }
  return wrapped;
}

static void check_no_repeats(IntArrayRef wrapped, IntArrayRef given, const char* which) {
  for (int64_t d : wrapped) {
    TORCH_CHECK(std::count(wrapped.begin(), wrapped.end(), d) == 1, "movedim: repeated dim in `", which, "` (", given,
                ")");
  }
}

static Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  TORCH_CHECK(source.size() == destination.size(), "movedim: Invalid source or destination dims: source (", source,
              " dims) should contain the same number of dims as destination (", destination, " dims)");
  const DimVector from = wrapped_dims(source, self.dim()), to = wrapped_dims(destination, self.dim());
  check_no_repeats(from, source, "source");
  check_no_repeats(to, destination, "destination");
  DimVector order(static_cast<size_t>(self.dim()), -1); // order[i] is the old dimension that moves to position i
  for (size_t i = 0; i < from.size(); i++) {
    order[to[i]] = from[i];
  }
  int64_t next = 0; // dimensions without a name in the list keep their order
  for (int64_t& dim : order) {
    if (dim == -1) {
      while (std::count(from.begin(), from.end(), next) > 0) {
        next++;
      }
      dim = next++;
    }
  }
  return self.dim() == 0 ? self : at::permute(self, order);
}

static Tensor movedim_int(const Tensor& self, int64_t source, int64_t destination) {
  return native::movedim(self, IntArrayRef(source), IntArrayRef(destination));
}

static Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) {
  return at::transpose(self, axis0, axis1);
}

static Tensor swapdims(const Tensor& self, int64_t dim0, int64_t dim1) {
  return at::transpose(self, dim0, dim1);
}

static Tensor& swapaxes_(Tensor& self, int64_t axis0, int64_t axis1) {
  return at::transpose_(self, axis0, axis1);
}

static Tensor& swapdims_(Tensor& self, int64_t dim0, int64_t dim1) {
  return at::transpose_(self, dim0, dim1);
}

static Tensor numpy_T(const Tensor& self) {
  DimVector order;
  for (int64_t d = self.dim() - 1; d >= 0; d--) {
    order.push_back(d);
  }
  return at::permute(self, order);
}

// A 0-dim tensor is its own transpose; PyTorch warns that this use is deprecated.
static Tensor matrix_transpose(const Tensor& self, const char* name) {
  TORCH_CHECK(self.dim() != 1, "tensor.", name,
              " is only supported on matrices or batches of matrices. Got 1-D tensor.");
  return self.dim() == 0 ? self : at::transpose(self, -2, -1);
}

static Tensor mT(const Tensor& self) {
  return matrix_transpose(self, "mT");
}

// The conjugate transpose; without complex numbers this is the transpose.
static Tensor mH(const Tensor& self) {
  return matrix_transpose(self, "mH");
}

static Tensor adjoint(const Tensor& self) {
  return matrix_transpose(self, "adjoint()");
}

static Tensor matrix_H(const Tensor& self) {
  TORCH_CHECK(self.dim() == 0 || self.dim() == 2, "tensor.H is only supported on matrices (2-D tensors). Got ",
              self.dim(), "-D tensor.", self.dim() > 2 ? " For batches of matrices, consider using tensor.mH" : "");
  return self.dim() == 0 ? self : at::transpose(self, 0, 1);
}

// --- more dimensions -------------------------------------------------------------------------------------------------

static Tensor atleast_1d(const Tensor& self) {
  return self.dim() == 0 ? at::reshape(self, {1}) : self;
}

static Tensor atleast_2d(const Tensor& self) {
  return self.dim() == 0 ? at::reshape(self, {1, 1}) : self.dim() == 1 ? at::unsqueeze(self, 0) : self;
}

// (n) becomes (1, n, 1), and (n, m) becomes (n, m, 1).
static Tensor atleast_3d(const Tensor& self) {
  switch (self.dim()) {
    case 0: return at::reshape(self, {1, 1, 1});
    case 1: return at::unsqueeze(at::unsqueeze(self, 0), -1);
    case 2: return at::unsqueeze(self, -1);
    default: return self;
  }
}

template <Tensor (*atleast_nd)(const Tensor&)>
static std::vector<Tensor> each(TensorList tensors) {
  std::vector<Tensor> results;
  for (const Tensor& t : tensors) {
    results.push_back(atleast_nd(t));
  }
  return results;
}

static std::vector<Tensor> broadcast_tensors(TensorList tensors) {
  DimVector sizes;
  for (const Tensor& t : tensors) {
    sizes = infer_size_dimvector(sizes, t.sizes());
  }
  std::vector<Tensor> results;
  for (const Tensor& t : tensors) {
    results.push_back(t.sizes() == IntArrayRef(sizes) ? t : at::expand(t, sizes));
  }
  return results;
}

// --- fewer dimensions ------------------------------------------------------------------------------------------------

static Tensor sum_to_size(const Tensor& self, IntArrayRef size) {
  TORCH_CHECK(is_expandable_to(size, self.sizes()), "size {", size, "} is not expandable to size {", self.sizes(),
              "}.");
  return size.empty() ? at::sum(self) : sum_to(self, size); // size () is a sum of all elements, int64 for integers
}

static bool is_same_size(const Tensor& self, const Tensor& other) {
  return self.sizes() == other.sizes();
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_composite("flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
                  TORCH_FN(flatten));
  m.def_composite("unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)", TORCH_FN(unflatten));
  m.def_composite("ravel(Tensor(a) self) -> Tensor(a)", TORCH_FN(ravel));
  m.def_composite("movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)", TORCH_FN(movedim_int));
  m.def_composite("movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)", TORCH_FN(movedim));
  m.def_composite("moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)", TORCH_FN(movedim_int));
  m.def_composite("moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)", TORCH_FN(movedim));
  m.def_composite("swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", TORCH_FN(swapaxes));
  m.def_composite("swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", TORCH_FN(swapdims));
  m.def_composite("swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)", TORCH_FN(swapaxes_),
                  tags(Tag::inplace_view), variants::METHOD);
  m.def_composite("swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)", TORCH_FN(swapdims_),
                  tags(Tag::inplace_view), variants::METHOD);
  m.def_composite("numpy_T(Tensor(a) self) -> Tensor(a)", TORCH_FN(numpy_T), variants::METHOD);
  m.def_composite("mT(Tensor(a) self) -> Tensor(a)", TORCH_FN(mT), variants::METHOD);
  m.def_composite("mH(Tensor(a) self) -> Tensor(a)", TORCH_FN(mH), variants::METHOD);
  m.def_composite("matrix_H(Tensor(a) self) -> Tensor(a)", TORCH_FN(matrix_H), variants::METHOD);
  m.def_composite("adjoint(Tensor(a) self) -> Tensor(a)", TORCH_FN(adjoint));
  m.def_composite("atleast_1d(Tensor self) -> Tensor", TORCH_FN(atleast_1d), variants::FUNCTION);
  m.def_composite("atleast_2d(Tensor self) -> Tensor", TORCH_FN(atleast_2d), variants::FUNCTION);
  m.def_composite("atleast_3d(Tensor self) -> Tensor", TORCH_FN(atleast_3d), variants::FUNCTION);
  m.def_composite("atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]", TORCH_FN(each<atleast_1d>), variants::FUNCTION);
  m.def_composite("atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]", TORCH_FN(each<atleast_2d>), variants::FUNCTION);
  m.def_composite("atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]", TORCH_FN(each<atleast_3d>), variants::FUNCTION);
  m.def_composite("broadcast_tensors(Tensor[] tensors) -> Tensor[]", TORCH_FN(broadcast_tensors), variants::FUNCTION);
  m.def_composite("sum_to_size(Tensor self, int[] size) -> Tensor", TORCH_FN(sum_to_size), variants::METHOD);
  m.def_composite("is_same_size(Tensor self, Tensor other) -> bool", TORCH_FN(is_same_size));
}

} // namespace reftorch::at::native
