// The cost of the calls that record a trace, in place, while nobody traces and while somebody does.
//
// To reach: 0.1 % of a launch while nobody does, which of the shortest kernels that are measured elsewhere
// (21 us) is 21 ns. Run a release build:
//   bench_tracing --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
#include <benchmark/benchmark.h>

#include <chrono>

#include "runtime/ring/segment.hpp"
#include "runtime/session/turn.hpp"
#include "runtime/vgpu/issue/tracer.hpp"
#include "tests/harness/recorded_command.hpp"

namespace {

using namespace fairgv;

// The worker's part of every command.
void end_of_a_command(benchmark::State& state, bool traced) {
  auto memory = session::TurnMemory::create();
  if (!memory) return state.SkipWithError(memory.error().message.c_str());
  const auto ring = *memory->trace();
  const std::span turns(memory->page().devices, 1);
  vgpu::Tracer tracer(ring, turns);
  ring::RingConsumer reader(ring.ring);
  turns[0].tracing = traced ? 1 : 0;
  const auto lane = std::make_shared<vgpu::Lane>(true, wire::DeviceIndex{0});
  vgpu::TimePoint now{std::chrono::hours(1)};
  const harness::RecordedCommand command(lane, "kernel", now);
  std::uint64_t recorded = 0;
  for (auto _ : state) {
    now += std::chrono::microseconds(21);
    tracer.ended(command, now);
    tracer.write_ended(now);
    // The work of the daemon's thread is not the program's cost, but for the ring that it empties.
    ring::RecordHeader header{};
    std::span<const std::byte> payload;
    if (traced && reader.peek(header, payload) == ring::RingConsumer::Next::record) {
      ++recorded;
      reader.pop();
    }
  }
  if (traced != (recorded > 0)) state.SkipWithError("not what was to be measured");
}

// The client's part of every call that waits for a reply, and of every wait that sleeps or spins.
void begin_of_a_call(benchmark::State& state, bool traced) {
  const auto segment = ring::Segment::create();
  if (!segment) return state.SkipWithError(segment.error().message.c_str());
  segment->header().recording.on = traced ? 1 : 0;
  for (auto _ : state) {
    auto time = segment->recorded_time();
    benchmark::DoNotOptimize(time);
  }
}

BENCHMARK_CAPTURE(end_of_a_command, nobody_traces, false);
BENCHMARK_CAPTURE(end_of_a_command, traced, true);
BENCHMARK_CAPTURE(begin_of_a_call, nobody_traces, false);
BENCHMARK_CAPTURE(begin_of_a_call, traced, true);

}  // namespace

BENCHMARK_MAIN();
