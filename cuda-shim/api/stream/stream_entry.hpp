// Shared by the files of this folder, which are compiled twice: once as they stand, and once with
// CUDA_API_PER_THREAD_DEFAULT_STREAM, under which cuda.h gives every function in them its _ptds or _ptsz
// name. The only other difference is the meaning of stream 0.
#pragma once

#include "cuda-shim/api/entry/entry.hpp"

namespace fairgv::cuda {
namespace {

#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
constexpr bool kPerThreadDefault = true;
#else
constexpr bool kPerThreadDefault = false;
#endif

/// For calls on a stream: body(driver, context, stream).
template <typename Body>
CUresult on_stream(CUstream handle, const Body& body) noexcept {
  return in_context([&body, handle](Driver& driver, Context& context) {
    const auto stream = find_stream(driver, context, handle, kPerThreadDefault);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    // in_context() has checked the fault of the current context's streams.
    if (stream->group() != context.group()) {
      if (const CUresult fault = stream->group()->fault(); fault != CUDA_SUCCESS) return fault;
    }
    return static_cast<CUresult>(body(driver, context, stream));
  });
}

/// The same for calls that wait for the stream, or put into it something that no graph can hold: they are an
/// error while the stream is being captured. All other commands go through put() (command.hpp).
template <typename Body>
CUresult on_uncaptured_stream(CUstream handle, const Body& body) noexcept {
  return on_stream(handle, [&](Driver& driver, Context& context, const std::shared_ptr<Stream>& stream) {
    if (driver.captures.any()) {
      if (const CUresult code = driver.captures.refuse(stream); code != CUDA_SUCCESS) return code;
    }
    return static_cast<CUresult>(body(driver, context, stream));
  });
}

}  // namespace
}  // namespace fairgv::cuda
