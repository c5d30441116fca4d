#include "cuda-shim/driver/storage.hpp"

#include "cuda-shim/driver/scheduler.hpp"

namespace fairgv::cuda::remote {

MemoryStorage::~MemoryStorage() {
  if (!group_) return;
  Connection& connection = group_->connection();
  if (pinned_.bytes == 0) {
    connection.send(wire::cuda::FreeMemory{group_->context(), address_});
    return;
  }
  connection.send(wire::cuda::UnpinArena{pinned_.offset});
  connection.session().free_when_consumed(pinned_);
}

WorkersObject::~WorkersObject() {
  if (group_) group_->connection().session().release_object(id_);
}

}  // namespace fairgv::cuda::remote
