// One target as a program of libFuzzer's: FAIRGV_FUZZ_TARGET names it.
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/target.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace fairgv::fuzz {
namespace {

constexpr const Target& kTarget = FAIRGV_FUZZ_TARGET;

/// libFuzzer's own changes ignore an input's structure, and ours ignore coverage: half of the changes are of
/// each kind.
std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  Random random(seed);
  if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  Bytes input(data, data + size);
  for (auto left = 1 + random() % 4; left > 0; --left) kTarget.mutate(input, random);
  input.resize(std::min(input.size(), most));
  std::copy(input.begin(), input.end(), data);
  return input.size();
}

}  // namespace
}  // namespace fairgv::fuzz

/// Compilers in drivers install their own handlers for signals that end a process, and libFuzzer leaves these
/// handlers in place: it would not report the input. So all handlers are installed now, and taken back.
extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  for (const fairgv::fuzz::Bytes& seed : fairgv::fuzz::kTarget.seeds()) fairgv::fuzz::kTarget.run(seed);
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGINT, SIGTERM}) {
    std::signal(signal, SIG_DFL);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fairgv::fuzz::kTarget.run({data, size});
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  return fairgv::fuzz::mutate(data, size, most, seed);
}
