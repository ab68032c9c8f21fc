// Mirrors: torch/csrc/Storage.cpp, torch/csrc/StorageMethods.cpp, torch/csrc/StorageSharing.cpp
//
// The Python object of a storage. reftorch/storage.py reads and writes the bytes through a tensor of bytes on the
// storage. The methods that share memory are called by reftorch/multiprocessing/reductions.py; csrc/cuda has those for
// CUDA devices. Left out: pinned memory, files, one Python object per storage.
#include <csrc/python_storage.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_dtype.h>
#include <csrc/utils/object_ptr.h>

#include <ATen/EmptyTensor.h>
#include <ATen/MapAllocator.h>
#include <c10/core/Allocator.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace py = pybind11;

namespace reftorch::torch {

namespace {

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
  // A tensor that extends past the new end raises an error at its next access. See
  // Note [Geometry is checked before memory].
  impl.shrunk_ = impl.shrunk_ || size < impl.size_bytes_;
  impl.data_ptr_ = std::move(fresh);
  impl.size_bytes_ = size;
}

at::MapAllocator* shared_memory_of(const StorageBase& self) {
  return at::MapAllocator::of(self.storage.storage_impl_->data_ptr_);
}

// Gives the storage other memory.
//
// A storage of our own that cannot be resized has given its address to a numpy array or to another library. These keep
// the storage alive and go on using the old memory, so the new memory keeps the old one until the storage ends.
void replace_memory(c10::StorageImpl& impl, c10::DataPtr memory) {
  if (!impl.resizable_ && impl.allocator_ != nullptr) {
    at::MapAllocator::of(memory)->keep(std::move(impl.data_ptr_));
  }
  impl.data_ptr_ = std::move(memory);
}

// Moves the bytes into shared memory. All tensors on this storage use the new memory.
void move_to(const StorageBase& self, c10::DataPtr memory) {
  c10::StorageImpl& impl = *self.storage.storage_impl_;
  if (impl.size_bytes_ > 0) {
    std::memcpy(memory.get(), impl.data_ptr_.get(), impl.size_bytes_);
  }
  replace_memory(impl, std::move(memory));
  impl.resizable_ = false; // after growing, the other processes would still use the former memory
  c10::add_shared_storage(shared_memory_of(self)->file(), self.storage.storage_impl_);
}

void check_can_be_shared(const StorageBase& self) {
  TORCH_CHECK(self.storage.device().is_cpu(), "share_memory_: only the memory of CPU tensors can be shared, but got ",
              self.storage.device());
}

// Returns the file descriptor, which the storage keeps, and the number of bytes.
std::pair<int, size_t> share_fd(const StorageBase& self) {
  check_can_be_shared(self);
  if (shared_memory_of(self) == nullptr) {
    const py::gil_scoped_release long_work;
    move_to(self, at::MapAllocator::new_fd(self.storage.nbytes()));
  }
  return {shared_memory_of(self)->fd(), self.storage.nbytes()};
}

// Gives the memory `name`, if the memory is not shared yet. Returns the name and the number of bytes.
std::pair<std::string, size_t> share_filename(const StorageBase& self, const std::string& name) {
  check_can_be_shared(self);
  if (shared_memory_of(self) == nullptr) {
    const py::gil_scoped_release long_work;
    move_to(self, at::MapAllocator::new_named(name, self.storage.nbytes()));
  }
  return {shared_memory_of(self)->name(), self.storage.nbytes()};
}

size_t checked_size(int64_t nbytes) {
  TORCH_CHECK(nbytes >= 0, "Storage: expected a size of at least 0 bytes, got ", nbytes);
  return static_cast<size_t>(nbytes);
}

// Returns the storage of this process on mapped memory. Makes a storage if there is none. See Note [Shared storages].
StorageBase storage_on(c10::DataPtr memory, size_t size) {
  const c10::FileId file = at::MapAllocator::of(memory)->file();
  if (auto known = c10::find_shared_storage(file)) {
    c10::Storage storage;
    storage.storage_impl_ = std::move(known);
    return {storage};
  }
  const c10::Storage storage(size, std::move(memory));
  c10::add_shared_storage(file, storage.storage_impl_);
  return {storage};
}

StorageBase new_shared_fd(int fd, int64_t nbytes) {
  const size_t size = checked_size(nbytes);
  return storage_on(at::MapAllocator::from_fd(fd, size), size);
}

StorageBase new_shared_filename(const std::string& name, int64_t nbytes) {
  const size_t size = checked_size(nbytes);
  return storage_on(at::MapAllocator::from_name(name, size), size);
}

// Fresh shared memory, for a result that is computed there.
StorageBase new_shared(int64_t nbytes, const std::string& name) {
  const size_t size = checked_size(nbytes);
  const py::gil_scoped_release long_work;
  return storage_on(name.empty() ? at::MapAllocator::new_fd(size) : at::MapAllocator::new_named(name, size), size);
}

// A message that carries the name counts as a user of the memory, so that the name lasts until the message arrives.
void shared_incref(const StorageBase& self) {
  if (at::MapAllocator* memory = shared_memory_of(self)) {
    memory->incref();
  }
}
void shared_decref(const StorageBase& self) {
  if (at::MapAllocator* memory = shared_memory_of(self)) {
    memory->decref();
  }
}

// Returns the whole memory as a 1-dimensional tensor.
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
      .def("is_shared",
           [](const StorageBase& self) {
             // Another process can open the memory of a CUDA device as it is.
             return self.storage.device().is_cuda() || shared_memory_of(self) != nullptr;
           })
      .def("_share_fd_cpu_", &share_fd)
      .def("_share_filename_cpu_", &share_filename, py::arg("name"))
      .def_static("_new_shared_fd_cpu", &new_shared_fd, py::arg("fd"), py::arg("nbytes"))
      .def_static("_new_shared_filename_cpu", &new_shared_filename, py::arg("name"), py::arg("nbytes"))
      .def_static("_new_shared", &new_shared, py::arg("nbytes"), py::arg("name") = "")
      .def("_shared_incref", &shared_incref)
      .def("_shared_decref", &shared_decref)
      .def("tensor", &as_tensor)
      .def("cdata",
           [](const StorageBase& self) { return reinterpret_cast<uintptr_t>(self.storage.storage_impl_.get()); });
}

} // namespace reftorch::torch
