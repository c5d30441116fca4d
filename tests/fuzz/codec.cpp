// Every message of the protocol: any bytes are refused or decoded; a decoded message is encoded again and
// comes out the same.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "runtime/wire/every_call.hpp"
#include "tests/fuzz/records.hpp"

namespace fairgv::fuzz {
namespace {

/// A message's bytes, private and aligned as the worker has them.
class Aligned {
 public:
  explicit Aligned(std::size_t bytes) : bytes_(bytes), words_(bytes / 8 + 1) {}
  std::byte* data() { return reinterpret_cast<std::byte*>(words_.data()); }
  std::span<const std::byte> view() { return {data(), bytes_}; }

 private:
  std::size_t bytes_;
  std::vector<std::uint64_t> words_;
};

template <wire::Message M>
Aligned encoded(const M& message) {
  Aligned bytes(wire::encoded_size(message));
  wire::encode(message, bytes.data());
  return bytes;
}

template <wire::Message M>
void round_trip(Input input) {
  Aligned bytes(input.size());
  std::copy(input.begin(), input.end(), reinterpret_cast<std::uint8_t*>(bytes.data()));
  M message;
  if (!wire::decode(bytes.view(), message)) return;
  Aligned first = encoded(message);
  expect(first.view().size() == input.size(), "a message is as long as it was");
  M again;
  expect(wire::decode(first.view(), again), "what was encoded is decoded");
  Aligned second = encoded(again);
  expect(std::ranges::equal(first.view(), second.view()), "a message comes back as it was");
}

using Function = void (*)(Input);

template <class... M>
void add(std::vector<Function>& to, wire::TypeList<M...>) {
  (to.push_back(&round_trip<M>), ...);
}

template <class Call>
void add_reply(std::vector<Function>& to) {
  if constexpr (!std::is_void_v<typename Call::Reply>) to.push_back(&round_trip<typename Call::Reply>);
}

template <class... Call>
void add_replies(std::vector<Function>& to, wire::TypeList<Call...>) {
  (add_reply<Call>(to), ...);
}

/// Includes messages that only the front end decodes. A message that several calls share is there as often.
std::vector<Function> all_messages() {
  std::vector<Function> all;
  add(all, wire::EveryCall{});
  add_replies(all, wire::EveryCall{});
  add(all, wire::AllNotices{});
  add(all, wire::TypeList<wire::Indirect>{});
  return all;
}

/// The first byte names the message. Since a decoder may always get the wrong bytes, all decoders run when
/// the byte names no message.
void run_codec(Input input) {
  static const std::vector<Function> kAll = all_messages();
  if (input.empty()) return;
  const std::size_t which = input[0];
  const Input message = input.subspan(1);
  if (which < kAll.size()) return kAll[which](message);
  for (const Function function : kAll) function(message);
}

template <wire::Message M>
Bytes seed_of(const M& message) {
  Aligned bytes = encoded(message);
  Bytes seed{0xFF};
  std::ranges::transform(bytes.view(), std::back_inserter(seed),
                         [](std::byte byte) { return static_cast<std::uint8_t>(byte); });
  return seed;
}

std::vector<Bytes> codec_seeds() {
  const wire::EventId waits[] = {wire::EventId::make(1, 7)};
  const wire::Command command{wire::ObjectId::make(5, 1), wire::EventId::make(6, 2), waits};
  const wire::ArgumentUpdate updates[] = {{0, wire::ArgumentKind::memory, 8, 42}};
  const std::byte value{3};
  wire::EnqueueKernel launch;
  launch.command = command;
  launch.updates = updates;
  launch.values = {&value, 1};
  wire::KernelsReply kernels;
  kernels.kernels.push_back({"k", "a", 1, 1, {{1, 2, 3, "float", "x"}}});
  wire::CompileProgram compile;
  compile.headers = {{wire::ObjectId::make(1, 1), "a.h"}, {wire::ObjectId::make(2, 1), "b.h"}};
  wire::ProvideIncludes includes;
  includes.places = {{wire::IncludePlace::file, "/a.h", "int a;"},
                     {wire::IncludePlace::link, "/b.h", "/a.h"}};
  wire::RecordKernel record;
  record.command = launch;
  wire::TopologyReply topology;
  topology.devices = {{0, 2}, {1, 4}};
  wire::cuda::Launch cuda_launch;
  cuda_launch.command = command;
  cuda_launch.parameters = {&value, 1};
  wire::cuda::Link link;
  link.inputs = {{1, "a.ptx", {value}}};
  wire::cuda::DevicesReply devices;
  devices.devices.emplace_back().attributes = {1, 2, 3};
  return {seed_of(launch),
          seed_of(cuda_launch),
          seed_of(link),
          seed_of(devices),
          seed_of(wire::cuda::Copy{command, {}, {}, {1, 2, 3}}),
          seed_of(wire::cuda::OpenMemory{}),
          seed_of(wire::cuda::WaitForWord{command}),
          seed_of(wire::cuda::SetAccess{4096, 4096, 0, 3}),
          seed_of(kernels),
          seed_of(compile),
          seed_of(includes),
          seed_of(record),
          seed_of(topology),
          seed_of(wire::InfoReply{0, std::vector<std::byte>(9)}),
          seed_of(wire::EventReached{wire::EventId::make(3, 1), 0, 0})};
}

}  // namespace

const Target kCodec{"codec", &run_codec, &codec_seeds, &mutate_bytes};

}  // namespace fairgv::fuzz
