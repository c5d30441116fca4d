#include "cuda-shim/api/entry/entry_points.hpp"

#include <cstring>

// Addresses only. The real declarations are in the header, which this file therefore does not include.
#define FAIRGV_ENTRY(symbol, name, stream, version, served) extern "C" int symbol();
#include "cuda-shim/api/entry/entry_points.def"
#undef FAIRGV_ENTRY

namespace fairgv::cuda {

std::span<const EntryPoint> entry_points() {
  static const EntryPoint kTable[] = {
#define FAIRGV_ENTRY(symbol, name, stream, version, served) \
  {#symbol, #name, DefaultStreamKind::stream, version, served, reinterpret_cast<void*>(&symbol)},
#include "cuda-shim/api/entry/entry_points.def"
#undef FAIRGV_ENTRY
  };
  return kTable;
}

EntryPointLookup find_entry_point(const char* name, int version, bool per_thread) {
  EntryPointLookup found;
  const EntryPoint* best = nullptr;
  bool has_variant = false;
  const auto better = [&best](const EntryPoint& candidate) {
    if (best == nullptr || candidate.stream != best->stream)
      return candidate.stream == DefaultStreamKind::per_thread;
    return candidate.version > best->version;
  };
  for (const EntryPoint& candidate : entry_points()) {
    if (std::strcmp(candidate.name, name) != 0) continue;
    found.known = true;
    has_variant = has_variant || candidate.stream == DefaultStreamKind::per_thread;
    if (candidate.version > version) continue;
    if (candidate.stream == DefaultStreamKind::per_thread && !per_thread) continue;
    if (best == nullptr || better(candidate)) best = &candidate;
  }
  const bool is_anothers =
      per_thread && has_variant && best != nullptr && best->stream != DefaultStreamKind::per_thread;
  if (best != nullptr && !is_anothers) found.address = best->address;
  return found;
}

}  // namespace fairgv::cuda
