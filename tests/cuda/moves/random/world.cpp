#include "tests/cuda/moves/random/world.hpp"

#include <algorithm>

namespace fairgv::moves::cuda {
namespace {

constexpr std::uint32_t kMostGates = 1024;

}  // namespace

World::World(std::uint64_t seed, bool details) : random(seed), results(details) {
  FAIRGV_CHECKED(cuInit(0));
  FAIRGV_CHECKED(cuDeviceGet(&device_, 0));
  FAIRGV_CHECKED(cuDevicePrimaryCtxRetain(&context_, device_));
  FAIRGV_CHECKED(cuCtxSetCurrent(context_));
  FAIRGV_CHECKED(cuStreamCreate(&opener_, CU_STREAM_NON_BLOCKING));
  FAIRGV_CHECKED(cuMemAlloc(&gate_words_, kMostGates * sizeof(std::uint32_t)));
  FAIRGV_CHECKED(cuMemsetD32(gate_words_, 0, kMostGates));
  streams_.emplace_back();  // the host
  streams_.emplace_back();  // the default stream
}

World::~World() {
  (void)cuDevicePrimaryCtxRelease(device_);
}

// ---- streams

Number World::add_stream(unsigned flags) {
  Stream stream;
  FAIRGV_CHECKED(cuStreamCreate(&stream.handle, flags));
  streams_.push_back(std::move(stream));
  return streams_.size() - 1;
}

Number World::any_stream() {
  for (;;) {
    const Number stream = 1 + random.below(streams_.size() - 1);
    if (streams_[stream].is_there) return stream;
  }
}

std::size_t World::stream_count() const {
  return static_cast<std::size_t>(
      std::count_if(streams_.begin() + 1, streams_.end(), [](const Stream& each) { return each.is_there; }));
}

void World::destroy_stream(Number stream) {
  synchronize(stream);
  FAIRGV_CHECKED(cuStreamDestroy(streams_[stream].handle));
  streams_[stream].is_there = false;
}

// ---- order

std::uint64_t World::at(const std::vector<std::uint64_t>& marks, Number stream) {
  return stream < marks.size() ? marks[stream] : 0;
}

void World::join(std::vector<std::uint64_t>& into, const std::vector<std::uint64_t>& from) {
  into.resize(std::max(into.size(), from.size()));
  for (Number i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

bool World::is_after(Number stream, const Resource::Use& use) const {
  return stream == use.stream || at(streams_[stream].ended, use.stream) >= use.mark ||
         at(streams_[kHost].ended, use.stream) >= use.mark;
}

void World::order_after(Number stream, const Resource::Use& use) {
  if (is_after(stream, use)) return;
  const KeptEvent event = record(use.stream);
  make_wait(stream, event);
  FAIRGV_CHECKED(cuEventDestroy(event.event));
}

void World::begin(Number stream, const std::vector<std::shared_ptr<Resource>>& reads,
                  const std::vector<std::shared_ptr<Resource>>& writes) {
  for (const auto& each : reads) {
    if (each->written) order_after(stream, *each->written);
  }
  for (const auto& each : writes) {
    if (each->written) order_after(stream, *each->written);
    for (const Resource::Use& use : each->read) order_after(stream, use);
  }
  const Resource::Use now{stream, ++streams_[stream].issued};
  for (const auto& each : reads) each->read.push_back(now);
  for (const auto& each : writes) {
    each->written = now;
    each->read.clear();
  }
}

void World::enqueue(Number stream, const Command& command) {
  begin(stream, command.reads, command.writes);
  command.issue(handle(stream));
}

void World::begin_on_host(const Resource& resource, bool writes) {
  std::vector<Resource::Use> uses;
  if (writes) uses = resource.read;
  if (resource.written) uses.push_back(*resource.written);
  open_gates();
  for (const Resource::Use& use : uses) {
    if (!is_after(kHost, use)) synchronize(use.stream);
  }
}

void World::synchronize(Number stream) {
  open_gates();
  if (random.one_in(4)) return synchronize_all();
  if (random.one_in(2)) {
    const KeptEvent event = record(stream);
    wait_for(event);
    FAIRGV_CHECKED(cuEventDestroy(event.event));
    return;
  }
  FAIRGV_CHECKED(cuStreamSynchronize(handle(stream)));
  join(streams_[kHost].ended, streams_[stream].ended);
  std::vector<std::uint64_t> own(stream + 1);
  own[stream] = streams_[stream].issued;
  join(streams_[kHost].ended, own);
}

void World::synchronize_all() {
  open_gates();
  FAIRGV_CHECKED(cuCtxSynchronize());
  std::vector<std::uint64_t> all;
  for (const Stream& each : streams_) all.push_back(each.issued);
  join(streams_[kHost].ended, all);
}

KeptEvent World::record(Number stream) {
  KeptEvent event;
  FAIRGV_CHECKED(cuEventCreate(&event.event, random.one_in(2) ? CU_EVENT_DISABLE_TIMING : CU_EVENT_DEFAULT));
  FAIRGV_CHECKED(cuEventRecord(event.event, handle(stream)));
  event.ended = streams_[stream].ended;
  event.ended.resize(std::max(event.ended.size(), stream + 1));
  event.ended[stream] = streams_[stream].issued;
  return event;
}

void World::wait_for(const KeptEvent& event) {
  open_gates();
  FAIRGV_CHECKED(cuEventSynchronize(event.event));
  join(streams_[kHost].ended, event.ended);
}

void World::make_wait(Number stream, const KeptEvent& event) {
  FAIRGV_CHECKED(cuStreamWaitEvent(handle(stream), event.event, 0));
  join(streams_[stream].ended, event.ended);
}

// ---- gates

void World::make_gate(Number stream) {
  if (gates_ == kMostGates) return;
  const CUdeviceptr word = gate_words_ + sizeof(std::uint32_t) * gates_++;
  FAIRGV_CHECKED(cuStreamWaitValue32(handle(stream), word, 1, CU_STREAM_WAIT_VALUE_GEQ));
}

void World::open_gates() {
  for (; opened_ < gates_; ++opened_) {
    const CUdeviceptr word = gate_words_ + sizeof(std::uint32_t) * opened_;
    FAIRGV_CHECKED(cuStreamWriteValue32(opener_, word, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
  }
}

}  // namespace fairgv::moves::cuda
