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

/// libFuzzer's own changes know nothing of an input's structure, ours nothing of coverage: half of each.
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

/// Compilers in drivers install handlers of their own for what ends a process, and libFuzzer leaves them: it
/// would not say which input it was. So all that is installed is installed now, and taken back.
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
