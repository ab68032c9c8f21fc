// Mirrors: torch/csrc/utils/python_dispatch.cpp
//
// Binds the functions `torch._C._dispatch_*`, with PyTorch's names. They print the table of an op and tell where each
// row was registered. Left out: the functions for dangling registrations and for Python stubs of C++ libraries.
#include <csrc/utils/python_dispatch.h>

#include <ATen/core/dispatch/Dispatcher.h>
#include <csrc/Exceptions.h>
#include <csrc/utils/pybind.h>

#include <dlfcn.h>

namespace py = pybind11;

namespace reftorch::torch {

using c10::DispatchKey;
using c10::DispatchKeySet;

// Returns all keys and alias keys, without kNumDispatchKeys, the number between them.
static std::vector<DispatchKey> all_keys() {
  std::vector<DispatchKey> keys;
  for (int k = 0; k <= static_cast<int>(DispatchKey::CompositeImplicitAutograd); k++) {
    if (k != c10::kNumDispatchKeys) {
      keys.push_back(static_cast<DispatchKey>(k));
    }
  }
  return keys;
}

DispatchKey parseDispatchKey(const std::string& name) {
  if (name == "AutogradCPU" || name == "AutogradCUDA" || name == "AutogradMeta") {
    return DispatchKey::Autograd; // one key serves every device here
  }
  for (DispatchKey key : all_keys()) {
    if (name == toString(key)) {
      return key;
    }
  }
  TORCH_CHECK(false, "could not parse dispatch key: ", name);
}

static std::string to_string(DispatchKeySet set) {
  std::string names;
  for (DispatchKey key : all_keys()) {
    if (static_cast<int>(key) < c10::kNumDispatchKeys && key != DispatchKey::Undefined && set.has(key)) {
      names += (names.empty() ? "" : ", ") + std::string(toString(key));
    }
  }
  return "DispatchKeySet(" + names + ")";
}

static at::OperatorEntry& entry_of(const std::string& name) {
  return at::Dispatcher::singleton().findSchemaOrThrow(name).entry();
}

// Returns the names of all ops that have a registration for the key; all ops if `key` is empty.
static std::vector<std::string> registrations_for(const std::string& key) {
  std::vector<std::string> names;
  for (const auto& entry : at::Dispatcher::singleton().entries()) {
    if (entry->defined && (key.empty() || entry->hasKernelForDispatchKey(parseDispatchKey(key)))) {
      names.push_back(entry->schema.operator_name());
    }
  }
  return names;
}

// Describes a function. `offset` is its position in the library, from which debug information gives the file and line.
static py::dict place(const std::string& function, const std::string& file, int line, const void* address) {
  py::dict found;
  found["function"] = function;
  found["file"] = file;
  found["line"] = line;
  Dl_info library;
  if (address != nullptr && dladdr(address, &library) != 0) {
    found["library"] = library.dli_fname;
    found["offset"] = static_cast<const char*>(address) - static_cast<const char*>(library.dli_fbase);
  }
  return found;
}

// Returns the registrations of an op as data, for debug.where_op and gdb, which show them as links.
static py::list registrations_of(const std::string& name) {
  py::list all;
  for (const auto& [key, registered] : entry_of(name).kernels) {
    for (const at::AnnotatedKernel& kernel : registered) {
      py::dict found = place(kernel.function, kernel.file, kernel.line, kernel.address);
      found["key"] = toString(key);
      py::list stubs;
      for (const at::native::DispatchStubImpl* stub : kernel.stubs) {
        py::dict devices;
        for (const at::Backend& backend : at::kBackends) {
          const at::native::StubKernel& below = stub->kernels[static_cast<int>(backend.device)];
          if (below.function != nullptr) {
            devices[toString(backend.key)] = place(below.function, below.file, below.line, below.address);
          }
        }
        stubs.append(py::make_tuple(stub->name, devices));
      }
      found["stubs"] = stubs;
      all.append(found);
    }
  }
  return all;
}

static void init_keys(py::module_& m) {
  py::enum_<DispatchKey> keys(m, "DispatchKey");
  for (DispatchKey key : all_keys()) {
    keys.value(toString(key), key);
  }
  py::class_<DispatchKeySet>(m, "DispatchKeySet")
      .def(py::init<DispatchKey>())
      .def(py::init([](const std::string& name) { return DispatchKeySet(parseDispatchKey(name)); }))
      .def("raw_repr", [](DispatchKeySet self) { return self.raw_repr(); })
      .def("add", [](DispatchKeySet self, DispatchKey key) { return self | key; })
      .def("remove", [](DispatchKeySet self, DispatchKey key) { return self - key; })
      .def("__or__", [](DispatchKeySet self, DispatchKeySet other) { return self | other; })
      .def("__sub__", [](DispatchKeySet self, DispatchKeySet other) { return self - other; })
      .def("__and__", [](DispatchKeySet self, DispatchKeySet other) { return self & other; })
      .def("__eq__", [](DispatchKeySet self, DispatchKeySet other) { return self == other; })
      .def("has", [](DispatchKeySet self, DispatchKey key) { return self.has(key); })
      .def("highestPriorityTypeId", [](DispatchKeySet self) { return self.highestPriorityTypeId(); })
      .def("__repr__", &to_string);
  m.def("_dispatch_key_name", [](DispatchKey key) { return std::string(toString(key)); });
  m.def("_dispatch_key_parse", &parseDispatchKey);
  m.def("_dispatch_keys", [](const at::Tensor& t) { return t.key_set(); });
  m.def("_dispatch_keyset_to_string", &to_string);
  m.def("_dispatch_is_alias_key", [](DispatchKey key) { return static_cast<int>(key) > c10::kNumDispatchKeys; });
  m.def("_dispatch_key_for_device", [](const std::string& device) {
    const c10::DeviceType type = c10::Device(device).type();
    for (const at::Backend& backend : at::kBackends) {
      if (backend.device == type) {
        return std::string(toString(backend.key));
      }
    }
    TORCH_CHECK(false, "no dispatch key belongs to the device ", device);
  });
}

void initDispatchBindings(PyObject* module) {
  auto m = py::reinterpret_borrow<py::module_>(module);
  init_keys(m);
  m.def("_dispatch_dump", [](const std::string& name) { return entry_of(name).dumpState(); });
  m.def("_dispatch_dump_table",
        [](const std::string& name) { return at::Dispatcher::singleton().dumpComputedTable(entry_of(name)); });
  m.def("_dispatch_has_kernel",
        [](const std::string& name) { return at::Dispatcher::singleton().findSchema(name) != nullptr; });
  m.def("_dispatch_has_kernel_for_dispatch_key", [](const std::string& name, const std::string& key) {
    return entry_of(name).hasKernelForDispatchKey(parseDispatchKey(key));
  });
  m.def("_dispatch_has_kernel_for_any_dispatch_key", [](const std::string& name, DispatchKeySet keys) {
    const at::OperatorEntry& entry = entry_of(name);
    for (DispatchKey key : all_keys()) {
      if (static_cast<int>(key) < c10::kNumDispatchKeys && keys.has(key) && entry.hasKernelForDispatchKey(key)) {
        return true;
      }
    }
    return false;
  });
  m.def("_dispatch_has_computed_kernel_for_dispatch_key", [](const std::string& name, const std::string& key) {
    const int row = static_cast<int>(parseDispatchKey(key));
    TORCH_CHECK(row < c10::kNumDispatchKeys, key, " is an alias, and has no row in a table of kernels");
    return entry_of(name).table[row].valid();
  });
  m.def("_dispatch_get_registrations_for_dispatch_key", &registrations_for, py::arg("dispatch_key") = "");
  m.def(
      "_dispatch_print_registrations_for_dispatch_key",
      [](const std::string& key) {
        for (const std::string& name : registrations_for(key)) {
          py::print(name);
        }
      },
      py::arg("dispatch_key") = "");
  m.def("_dispatch_get_all_op_names", [] { return registrations_for(""); });
  m.def("_dispatch_registrations", &registrations_of);
  py::enum_<at::Tag> tags(m, "Tag");
  for (int t = 0; t < at::kNumTags; t++) {
    tags.value(toString(static_cast<at::Tag>(t)), static_cast<at::Tag>(t));
  }
  m.def("_dispatch_tags", [](const std::string& name) {
    std::vector<at::Tag> found;
    for (int t = 0; t < at::kNumTags; t++) {
      if (entry_of(name).hasTag(static_cast<at::Tag>(t))) {
        found.push_back(static_cast<at::Tag>(t));
      }
    }
    return found;
  });
}

} // namespace reftorch::torch
