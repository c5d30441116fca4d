// The price that a command of a direct program pays at an open gate: one look at the turn page, going in and
// out.
#include <benchmark/benchmark.h>

#include <thread>

#include "cuda-shim/direct/gate.hpp"
#include "runtime/session/turn.hpp"

namespace {

using fairgv::cuda::direct::Gate;

void look(benchmark::State& state) {
  fairgv::session::DeviceTurn page;
  fairgv::session::TurnPromise promise;
  fairgv::ring::SegmentHeader header;
  fairgv::session::DispatcherTurn dispatcher(page, &promise);
  Gate gate({page, &promise}, {}, {header, [] {}, [] {}});
  std::thread granting([&] {
    while (!dispatcher.grant({})) std::this_thread::yield();
    fairgv::ring::ring(header.worker_bell);
  });
  if (gate.wait_and_enter() == CUDA_SUCCESS) gate.leave();
  granting.join();
  // Runs end at once here, so only the gate's own work is seen beside the looks.
  std::uint64_t shut = 0;
  for (auto _ : state) {
    if (!gate.enter()) {
      ++shut;
      static_cast<void>(gate.wait_and_enter());
    }
    gate.leave();
  }
  state.counters["shut"] = benchmark::Counter(static_cast<double>(shut), benchmark::Counter::kAvgIterations);
}
BENCHMARK(look);

}  // namespace

BENCHMARK_MAIN();
