// The Driver API's exported functions by number: the rows of cuda-shim/api/entry/entry_points.def, which is
// the list of the toolkit's own libcuda. Trampolines (trampolines.S), targets and the driver's functions are
// arrays by this number.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fairgv::cuda::direct {

enum class Symbol : std::uint16_t {
#define FAIRGV_ENTRY(symbol, name, stream, version, served) symbol##_,
#include "cuda-shim/api/entry/entry_points.def"
#undef FAIRGV_ENTRY
  count
};

inline constexpr std::size_t kSymbols = static_cast<std::size_t>(Symbol::count);

constexpr std::size_t index_of(Symbol symbol) {
  return static_cast<std::size_t>(symbol);
}

}  // namespace fairgv::cuda::direct

/// The jump of each exported function, by Symbol; trampolines.S reads it. Until the driver is loaded, and
/// where it lacks a function, a function that refuses. Written while the library is loaded, and not
/// afterwards.
extern "C" [[gnu::visibility("hidden")]] void* fairgv_direct_targets[fairgv::cuda::direct::kSymbols];
