// The frame of every entry point: no exception leaves it, and a failure becomes the API's own error code.
#pragma once

#include <new>
#include <utility>

#include "icd/cl.hpp"

namespace fairgv::icd {

/// Runs the body of an entry point that returns an error code. Always inlined: the body's captures would
/// otherwise travel through memory, which is a third of the time of a cheap call.
template <class Body>
[[gnu::always_inline]] inline cl_int entry(Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return CL_OUT_OF_HOST_MEMORY;
  } catch (...) {
    return CL_OUT_OF_RESOURCES;
  }
}

/// The result of a creating entry point: a handle or an error.
template <class Handle>
struct Outcome {
  Outcome(cl_int code) : error(code) {}
  Outcome(Handle created) : handle(created) {}

  Handle handle = nullptr;
  cl_int error = CL_SUCCESS;
};

/// Runs the body of an entry point that returns a handle (or a mapped pointer) and writes its error code to
/// `errcode_ret`, which may be null.
template <class Handle, class Body>
Handle create_entry(cl_int* errcode_ret, Body&& body) noexcept {
  Outcome<Handle> outcome = CL_OUT_OF_RESOURCES;
  try {
    outcome = std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    outcome = CL_OUT_OF_HOST_MEMORY;
  } catch (...) {
  }
  if (errcode_ret != nullptr) *errcode_ret = outcome.error;
  return outcome.handle;
}

}  // namespace fairgv::icd
