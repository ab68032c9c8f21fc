// Mirrors: aten/src/ATen/native/TensorShape.cpp (flatten, unflatten, movedim, swapaxes, numpy_T, mT, ...)
// Shape ops made of other shape ops. Left out: adjoint and H (no complex numbers), atleast_nd.
#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/library.h>

#include <algorithm>

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

static Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  dim = maybe_wrap_dim(dim, self.dim());
  TORCH_CHECK(!sizes.empty(), "unflatten: sizes must be non-empty");
  const int64_t size = self.size(dim);
  int64_t known = 1;
  const bool inferred = std::count(sizes.begin(), sizes.end(), -1) == 1;
  for (int64_t s : sizes) {
    known *= s == -1 && inferred ? 1 : s;
  }
  TORCH_CHECK(
      inferred ? known != 0 && size % known == 0 : known == size || std::count(sizes.begin(), sizes.end(), -1) > 1,
      "unflatten: Provided sizes ", sizes, " don't multiply up to the size of dim ", dim, " (", size,
      ") in the input tensor");
  const DimVector full = infer_size(sizes, size);
  DimVector shape(self.sizes().slice(0, dim));
  shape.append(full.begin(), full.end());
  shape.append(self.sizes().begin() + dim + 1, self.sizes().end());
  return at::view(self, shape);
}

static Tensor ravel(const Tensor& self) {
  return at::reshape(self.contiguous(), {-1});
}

// --- order of dimensions ---------------------------------------------------------------------------------------------

static DimVector wrapped_without_repeats(IntArrayRef dims, int64_t ndim, const char* which) {
  DimVector wrapped;
  for (int64_t d : dims) {
    d = maybe_wrap_dim(d, ndim);
    TORCH_CHECK(std::count(wrapped.begin(), wrapped.end(), d) == 0, "movedim: repeated dim in `", which, "` (", dims,
                ")");
    wrapped.push_back(d);
  }
  return wrapped;
}

static Tensor movedim(const Tensor& self, IntArrayRef source, IntArrayRef destination) {
  TORCH_CHECK(source.size() == destination.size(), "movedim: Invalid source or destination dims: source (", source,
              " dims) should contain the same number of dims as destination (", destination, " dims)");
  const DimVector from = wrapped_without_repeats(source, self.dim(), "source");
  const DimVector to = wrapped_without_repeats(destination, self.dim(), "destination");
  DimVector order(static_cast<size_t>(self.dim()), -1); // order[i]: the old dimension that stands at i
  for (size_t i = 0; i < from.size(); i++) {
    order[to[i]] = from[i];
  }
  int64_t next = 0; // the dimensions that were not named keep their order in the places left
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
  return movedim(self, IntArrayRef(source), IntArrayRef(destination));
}

static Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) {
  return at::transpose(self, axis0, axis1);
}

static Tensor swapdims(const Tensor& self, int64_t dim0, int64_t dim1) {
  return at::transpose(self, dim0, dim1);
}

static Tensor numpy_T(const Tensor& self) {
  DimVector order;
  for (int64_t d = self.dim() - 1; d >= 0; d--) {
    order.push_back(d);
  }
  return at::permute(self, order);
}

static Tensor mT(const Tensor& self) {
  TORCH_CHECK(self.dim() >= 2, "tensor.mT is only supported on matrices or batches of matrices. Got ", self.dim(),
              "-D tensor.");
  return at::transpose(self, -2, -1);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_composite("flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
                  TORCH_FN(flatten));
  m.def_composite("unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)", TORCH_FN(unflatten));
  m.def_composite("ravel(Tensor(a) self) -> Tensor(a)", TORCH_FN(ravel));
  m.def_composite("movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)", TORCH_FN(movedim_int));
  m.def_composite("movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)", TORCH_FN(movedim));
  m.def_composite("swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", TORCH_FN(swapaxes));
  m.def_composite("swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", TORCH_FN(swapdims));
  m.def_composite("numpy_T(Tensor(a) self) -> Tensor(a)", TORCH_FN(numpy_T), variants::METHOD);
  m.def_composite("mT(Tensor(a) self) -> Tensor(a)", TORCH_FN(mT), variants::METHOD);
}

} // namespace reftorch::at::native
