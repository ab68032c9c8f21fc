// Mirrors: c10/core/StorageImpl.cpp
//
// The table of the storages that are in shared memory. PyTorch has it in Python (shared_cache in
// torch/multiprocessing/reductions.py). See Note [Shared storages].
#include <c10/core/StorageImpl.h>

#include <c10/util/Mutex.h>

#include <map>
#include <utility>
#include <vector>

namespace reftorch::c10 {

namespace {

struct SharedStorages {
  Mutex mutex; // protects the member below
  std::map<std::pair<uint64_t, uint64_t>, StorageImpl*> on_file;
};
// The table is never destroyed, because storages may outlive every static object.
SharedStorages& shared_storages() {
  static SharedStorages* table = new SharedStorages;
  return *table;
}

} // namespace

intrusive_ptr<StorageImpl> find_shared_storage(FileId file) {
  SharedStorages& table = shared_storages();
  std::lock_guard<Mutex> lock(table.mutex);
  const auto found = table.on_file.find({file.device, file.inode});
  return found == table.on_file.end() ? intrusive_ptr<StorageImpl>()
                                      : intrusive_ptr<StorageImpl>::unsafe_reclaim_from_nonowning(found->second);
}

void add_shared_storage(FileId file, const intrusive_ptr<StorageImpl>& storage) {
  SharedStorages& table = shared_storages();
  std::lock_guard<Mutex> lock(table.mutex);
  if (table.on_file.emplace(std::make_pair(file.device, file.inode), storage.get()).second) {
    intrusive_ptr<StorageImpl>(storage).release()->add_pyobject(); // the table's reference
  }
}

void StorageImpl::decref_pyobject() const noexcept {
  SharedStorages& table = shared_storages();
  intrusive_ptr<StorageImpl> last; // deletes the storage after the lock is gone
  std::lock_guard<Mutex> lock(table.mutex);
  for (auto entry = table.on_file.begin(); entry != table.on_file.end(); ++entry) {
    // A storage that is no longer in the table was deleted by another thread, and must not be looked at.
    if (entry->second == this && use_count() == 1) {
      entry->second->remove_pyobject();
      last = intrusive_ptr<StorageImpl>::reclaim(entry->second);
      table.on_file.erase(entry);
      return;
    }
  }
}

} // namespace reftorch::c10
