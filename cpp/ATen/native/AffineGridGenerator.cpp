// Mirrors: aten/src/ATen/native/AffineGridGenerator.cpp
//
// The grid of places that an affine map reads, for grid_sampler: each place of the output, (x, y, 1), is multiplied by
// the matrix of the map. Left out: the kernel of cuDNN.
#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>
#include <ATen/core/library.h>
#include <c10/util/accumulate.h>

namespace reftorch::at::native {
namespace {

// The places of `steps` pixels from -1 to 1: the middles of the outer pixels lie at -1 and 1 if the corners are
// aligned, otherwise their borders do.
Tensor places_along(const Tensor& theta, int64_t steps, bool align_corners) {
  if (steps <= 1) {
    return at::zeros({steps}, theta.scalar_type(), theta.device());
  }
  const Tensor places = at::linspace(-1, 1, steps, theta.scalar_type(), theta.device());
  const double shrink = static_cast<double>(steps - 1) / static_cast<double>(steps);
  return align_corners ? places : at::mul(places, at::detail::wrapped_scalar_tensor(shrink));
}

// Returns the homogeneous places (x, y, 1) or (x, y, z, 1) of all pixels: (N, pixels, 3 or 4). size: (N, C, H, W) or
// (N, C, D, H, W)
Tensor homogeneous_places(const Tensor& theta, IntArrayRef size, bool align_corners) {
  const int64_t dims = static_cast<int64_t>(size.size()) - 2;
  const DimVector shape(size.slice(2, static_cast<size_t>(dims)));
  std::vector<Tensor> coordinates;
  for (int64_t d = dims; d-- > 0;) { // x belongs to the last dimension
    DimVector along(static_cast<size_t>(dims), 1);
    along[d] = shape[d];
    coordinates.push_back(at::expand(at::reshape(places_along(theta, shape[d], align_corners), along), shape));
  }
  coordinates.push_back(at::ones_like(coordinates[0]));
  const Tensor places = at::reshape(at::stack(coordinates, -1), {1, c10::multiply_integers(shape), dims + 1});
  return at::expand(places, {size[0], c10::multiply_integers(shape), dims + 1});
}

void check_affine_size(IntArrayRef size) {
  TORCH_CHECK(size.size() == 4 || size.size() == 5,
              "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.");
}

// theta: (N, 2, 3) or (N, 3, 4); the result: (N, H, W, 2) or (N, D, H, W, 3)
Tensor affine_grid_generator(const Tensor& theta, IntArrayRef size, bool align_corners) {
  check_affine_size(size);
  const int64_t dims = static_cast<int64_t>(size.size()) - 2;
  const Tensor grid = at::bmm(homogeneous_places(theta, size, align_corners), at::transpose(theta, 1, 2));
  DimVector shape{size[0]};
  for (int64_t pixels : size.slice(2, static_cast<size_t>(dims))) {
    shape.push_back(pixels);
  }
  shape.push_back(dims);
  return at::reshape(grid, shape);
}

// grad: the shape of the grid; the result: (N, 2, 3) or (N, 3, 4)
Tensor affine_grid_generator_backward(const Tensor& grad, IntArrayRef size, bool align_corners) {
  check_affine_size(size);
  const int64_t dims = static_cast<int64_t>(size.size()) - 2;
  const Tensor places = homogeneous_places(grad, size, align_corners);
  const Tensor rows = at::reshape(grad, {size[0], places.sizes()[1], dims});
  return at::transpose(at::bmm(at::transpose(places, 1, 2), rows), 1, 2);
}

} // namespace

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor",
        TORCH_FN(affine_grid_generator), variants::FUNCTION);
  m.def_composite("affine_grid_generator_backward(Tensor grad, SymInt[] size, bool align_corners) -> Tensor",
                  TORCH_FN(affine_grid_generator_backward), variants::NN);
}

} // namespace reftorch::at::native
