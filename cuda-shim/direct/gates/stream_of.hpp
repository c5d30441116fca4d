// The stream in which a call of the Driver API gives its work, by the types of its arguments.
#pragma once

#include <string_view>

#include "cuda-shim/direct/cuda.hpp"

namespace fairgv::cuda::direct {

/// Arguments that say nothing of a stream.
template <class Argument>
void look_for_stream(CUstream&, const Argument&) {}
inline void look_for_stream(CUstream& found, CUstream stream) {
  found = stream;
}
inline void look_for_stream(CUstream& found, const CUlaunchConfig* config) {
  if (config != nullptr) found = config->hStream;
}
/// Of a launch on several devices the first one's.
inline void look_for_stream(CUstream& found, CUDA_LAUNCH_PARAMS* launches) {
  if (launches != nullptr) found = launches->hStream;
}

constexpr bool is_of_thread(std::string_view symbol) {
  return symbol.ends_with("_ptds") || symbol.ends_with("_ptsz");
}

/// The stream that the call means. `of_thread`: 0 is the calling thread's own.
template <class... Arguments>
CUstream stream_of(bool of_thread, const Arguments&... arguments) {
  CUstream stream = nullptr;
  (look_for_stream(stream, arguments), ...);
  if (stream != nullptr) return stream;
  return of_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
}

}  // namespace fairgv::cuda::direct
