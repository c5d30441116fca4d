#include "cuda-shim/driver/storage.hpp"

#include "cuda-shim/driver/scheduler.hpp"

namespace fairgv::cuda {

Storage::~Storage() {
  if (!group_) return;
  Connection& connection = group_->connection();
  if (!is_pinned()) {
    connection.send(wire::cuda::FreeMemory{group_->context(), address_});
    return;
  }
  connection.send(wire::cuda::UnpinArena{pinned_.offset});
  connection.session().free_when_consumed(pinned_);
}

WorkersObject::~WorkersObject() {
  if (group_) group_->connection().session().release_object(id_);
}

}  // namespace fairgv::cuda
