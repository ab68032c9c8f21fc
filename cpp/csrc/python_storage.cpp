// Mirrors: torch/csrc/Storage.cpp, torch/csrc/StorageMethods.cpp
// A storage as a Python object. reftorch/storage.py reads and writes its bytes through a tensor of bytes on it. Left
// out: named shared memory, which processes other than children could open; pinned memory, files, one Python object per
// storage.
#include <csrc/python_storage.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_dtype.h>
#include <csrc/utils/object_ptr.h>

#include <ATen/EmptyTensor.h>
#include <c10/core/Allocator.h>

#include <pybind11/pybind11.h>

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace py = pybind11;

namespace reftorch::torch {

namespace {

struct StorageBase {
  c10::Storage storage;
};

StorageBase new_storage(int64_t nbytes) {
  TORCH_CHECK(nbytes >= 0, "Storage: expected a size of at least 0 bytes, got ", nbytes);
  return {c10::Storage(static_cast<size_t>(nbytes), c10::GetAllocator(c10::DeviceType::CPU))};
}

StorageBase storage_of(const py::object& tensor) {
  TORCH_CHECK_TYPE(THPVariable_Check(tensor.ptr()), "expected a Tensor, got ", Py_TYPE(tensor.ptr())->tp_name);
  return {THPVariable_Unpack(tensor.ptr()).storage()};
}

void resize(const StorageBase& self, int64_t nbytes) {
  TORCH_CHECK(self.storage.resizable(), "Trying to resize storage that is not resizable");
  TORCH_CHECK(nbytes >= 0, "Storage.resize_: expected a size of at least 0 bytes, got ", nbytes);
  c10::StorageImpl& impl = *self.storage.storage_impl_;
  const auto size = static_cast<size_t>(nbytes);
  c10::DataPtr fresh = impl.allocator_->allocate(size);
  if (std::min(size, impl.size_bytes_) > 0) {
    impl.allocator_->copy_data(fresh.get(), impl.data_ptr_.get(), std::min(size, impl.size_bytes_));
  }
  // Tensors that lie past the new end raise at their next access: see Note [Geometry is checked before memory].
  impl.shrunk_ = impl.shrunk_ || size < impl.size_bytes_;
  impl.data_ptr_ = std::move(fresh);
  impl.size_bytes_ = size;
}

// Pages that a forked child shares instead of getting a copy.
struct SharedMapping {
  void* data;
  size_t size;
};

void unmap(void* context) {
  auto* mapping = static_cast<SharedMapping*>(context);
  munmap(mapping->data, mapping->size);
  delete mapping;
}

bool is_shared(const StorageBase& self) {
  return self.storage.storage_impl_->data_ptr_.get_deleter() == &unmap;
}

// Moves the bytes into shared memory; all tensors on this storage move with them.
void share_memory(const StorageBase& self) {
  if (is_shared(self)) {
    return;
  }
  c10::StorageImpl& impl = *self.storage.storage_impl_;
  const size_t mapped = std::max<size_t>(impl.size_bytes_, 1);
  void* data = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  TORCH_CHECK(data != MAP_FAILED, "share_memory_: unable to map ", mapped,
              " bytes of shared memory: ", std::strerror(errno));
  if (impl.size_bytes_ > 0) {
    std::memcpy(data, impl.data_ptr_.get(), impl.size_bytes_);
  }
  impl.data_ptr_ = c10::DataPtr(data, new SharedMapping{data, mapped}, &unmap, impl.data_ptr_.device());
  impl.resizable_ = false; // growing would leave the children behind
}

// The whole memory as a 1-dimensional tensor.
py::object as_tensor(const StorageBase& self, const py::object& dtype_object) {
  const c10::ScalarType dtype = scalar_type_from_python(dtype_object.ptr());
  TORCH_CHECK_TYPE(dtype != c10::ScalarType::Undefined, "expected a torch.dtype, got ",
                   Py_TYPE(dtype_object.ptr())->tp_name);
  const auto numel = static_cast<int64_t>(self.storage.nbytes() / c10::elementSize(dtype));
  const auto keys = c10::autograd_dispatch_keyset | c10::computeDispatchKey(self.storage.device().type());
  at::Tensor t(c10::make_intrusive<c10::TensorImpl>(self.storage, keys, dtype));
  t.unsafeGetTensorImpl()->set_sizes_contiguous(numel);
  return steal(THPVariable_Wrap(t));
}

} // namespace

void initStorage(PyObject* module) {
  py::module_ m = py::reinterpret_borrow<py::module_>(module);
  py::class_<StorageBase>(m, "StorageBase", "The memory behind tensors.")
      .def(py::init(&new_storage), py::arg("nbytes"))
      .def_static("_of", &storage_of)
      .def("nbytes", [](const StorageBase& self) { return self.storage.nbytes(); })
      .def("device", [](const StorageBase& self) { return steal(THPDevice_New(self.storage.device())); })
      .def("data_ptr", [](const StorageBase& self) { return reinterpret_cast<uintptr_t>(self.storage.mutable_data()); })
      .def("resizable", [](const StorageBase& self) { return self.storage.resizable(); })
      .def("use_count", [](const StorageBase& self) { return self.storage.use_count() - 1; })
      .def("resize_", &resize)
      .def("is_shared", &is_shared)
      .def("share_memory_", &share_memory)
      .def("tensor", &as_tensor)
      .def("cdata",
           [](const StorageBase& self) { return reinterpret_cast<uintptr_t>(self.storage.storage_impl_.get()); });
}

} // namespace reftorch::torch
