// Mirrors: torch/csrc/StorageSharing.cpp
//
// The functions that the UntypedStorage of reftorch/storage.py calls to send a storage of a CUDA device to another
// process and to receive one: see Note [CUDA IPC refcounting].
#include <csrc/cuda/python_storage_sharing.h>

#include <csrc/cuda/CudaIPCTypes.h>
#include <csrc/cuda/python_cuda.h>
#include <csrc/python_dtype.h>
#include <csrc/python_storage.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>

namespace py = pybind11;

namespace reftorch::torch {
namespace {

py::object bytes_or_none(const std::string& bytes) {
  return bytes.empty() ? py::object(py::none()) : py::object(py::bytes(bytes));
}

py::tuple share_cuda(const StorageBase& self) {
  SharedCudaStorage message;
  {
    const py::gil_scoped_release no_gil;
    message = shareCudaStorage(self.storage);
  }
  const bool is_empty = message.handle.empty();
  return py::make_tuple(static_cast<int>(message.device), bytes_or_none(message.handle), message.size_bytes,
                        message.offset_bytes, bytes_or_none(message.ref_counter_handle), message.ref_counter_offset,
                        bytes_or_none(message.event_handle),
                        is_empty ? py::object(py::none()) : py::object(py::bool_(message.event_sync_required)));
}

StorageBase new_shared_cuda(int64_t device, const std::string& handle, size_t size_bytes, ptrdiff_t offset_bytes,
                            const std::string& ref_counter_handle, size_t ref_counter_offset,
                            const std::string& event_handle, bool event_sync_required) {
  const c10::DeviceIndex index = checked_device_index(device);
  const py::gil_scoped_release no_gil; // with CUDA_LAUNCH_BLOCKING=1 the caller waits for the other process
  return {newSharedCudaStorage({index, handle, size_bytes, offset_bytes, ref_counter_handle, ref_counter_offset,
                                event_handle, event_sync_required})};
}

std::optional<StorageBase> received_cuda(const std::string& handle, ptrdiff_t offset_bytes) {
  const c10::Storage storage = receivedCudaStorage(handle, offset_bytes);
  return storage ? std::optional<StorageBase>({storage}) : std::nullopt;
}

} // namespace

void initCudaStorageSharing(py::module_& m) {
  using no_gil = py::call_guard<py::gil_scoped_release>;
  m.def("_cuda_shareStorage", &share_cuda);
  m.def("_cuda_newSharedStorage", &new_shared_cuda);
  m.def("_cuda_receivedStorage", &received_cuda);
  m.def("_cuda_releaseIPCCounter", &releaseCudaIPCCounter, no_gil());
  m.def("_cuda_ipc_collect", &CudaIPCCollect, no_gil());
}

} // namespace reftorch::torch
