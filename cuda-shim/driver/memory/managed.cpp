#include "cuda-shim/driver/memory/managed.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "cuda-shim/driver/connection.hpp"
#include "cuda-shim/driver/scheduler.hpp"
#include "runtime/wire/cuda_calls.hpp"

namespace fairgv::cuda::remote {

ManagedVariables::~ManagedVariables() {
  for (const Variable& variable : variables_) connection_.session().free(variable.range);
}

CUresult ManagedVariables::add(const std::shared_ptr<StreamGroup>& group, std::uint64_t address,
                               std::uint64_t size, const Reservation& reservation) {
  const std::lock_guard guard(lock_);
  const auto is_it = [address](const Variable& variable) { return variable.address == address; };
  if (std::ranges::any_of(variables_, is_it)) return CUDA_SUCCESS;
  Variable added;
  added.address = address;
  added.size = size;
  added.stream = std::make_shared<Stream>(group, StreamKind::independent, 0U, group->least_priority(), 0U);
  added.known.resize(size);
  const auto range = connection_.session().allocate(size);
  if (!range) return CUDA_ERROR_OUT_OF_MEMORY;
  added.range = *range;
  if (!reservation.open() || !receive(added)) {
    connection_.session().free(*range);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  std::memcpy(added.known.data(), connection_.session().bytes(*range), size);
  std::memcpy(added.here(), added.known.data(), size);
  variables_.push_back(std::move(added));
  return CUDA_SUCCESS;
}

void ManagedVariables::remove(std::uint64_t address) {
  const std::lock_guard guard(lock_);
  const auto is_it = [address](const Variable& variable) { return variable.address == address; };
  const auto found = std::ranges::find_if(variables_, is_it);
  if (found == variables_.end()) return;
  connection_.session().free(found->range);
  variables_.erase(found);
}

void ManagedVariables::to_device() {
  const std::lock_guard guard(lock_);
  for (Variable& variable : variables_) send(variable);
}

void ManagedVariables::from_device() {
  const std::lock_guard guard(lock_);
  for (Variable& variable : variables_) {
    send(variable);  // or the fetched value would be taken for newer
    fetch(variable);
  }
}

void ManagedVariables::send(Variable& variable) {
  std::byte* const staged = connection_.session().bytes(variable.range);
  const auto is_written = [&variable](std::uint64_t at) {
    const std::uint64_t bytes = std::min(kWord, variable.size - at);
    return std::memcmp(variable.here() + at, variable.known.data() + at, bytes) != 0;
  };
  bool sent = false;
  for (std::uint64_t at = 0; at < variable.size; at += kWord) {
    const std::uint64_t begin = at;
    for (; at < variable.size && is_written(at); at += kWord) {
      // The program may go on writing: what is staged is what is known from now on.
      const std::uint64_t bytes = std::min(kWord, variable.size - at);
      std::memcpy(staged + at, variable.here() + at, bytes);
      std::memcpy(variable.known.data() + at, staged + at, bytes);
    }
    if (at == begin) continue;
    if (!send_copy(variable, true, begin, std::min(at, variable.size) - begin, {})) return;
    sent = true;
  }
  // In any order of the streams, later commands find what was written before them.
  if (sent) wait_for_copies(variable);
}

void ManagedVariables::fetch(Variable& variable) {
  if (!receive(variable)) return;
  const std::byte* const fetched = connection_.session().bytes(variable.range);
  for (std::uint64_t at = 0; at < variable.size; ++at) {
    // Only what the device has written, so that other threads may use the rest meanwhile.
    if (fetched[at] == variable.known[at]) continue;
    variable.here()[at] = fetched[at];
    variable.known[at] = fetched[at];
  }
}

bool ManagedVariables::receive(const Variable& variable) {
  const Operation received(connection_, connection_.new_event());
  if (!send_copy(variable, false, 0, variable.size, received.event())) return false;
  received.wait();
  return received.ended_well();
}

void ManagedVariables::wait_for_copies(const Variable& variable) {
  const Operation marker(connection_, connection_.new_event());
  if (connection_.send(wire::EnqueueMarker{variable.stream->command(marker.event())})) marker.wait();
}

bool ManagedVariables::send_copy(const Variable& variable, bool to_device, std::uint64_t offset,
                                 std::uint64_t bytes, wire::EventId end) {
  wire::cuda::Place staged;
  staged.space = wire::cuda::Space::arena;
  staged.address = variable.range.offset + offset;
  wire::cuda::Place device;
  device.address = variable.address + offset;
  for (wire::cuda::Place* const place : {&staged, &device}) {
    place->pitch = bytes;
    place->rows = 1;
  }
  const wire::cuda::Copy call{
      variable.stream->command(end), to_device ? staged : device, to_device ? device : staged, {bytes, 1, 1}};
  return connection_.send(call);
}

}  // namespace fairgv::cuda::remote
