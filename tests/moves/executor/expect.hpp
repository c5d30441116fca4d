// The errors that a plan's calls must give.
#pragma once

#include <stdexcept>
#include <string>

#include "tests/moves/plan/opencl.hpp"

namespace fairgv::moves {

/// A call that did not do what it should; what() names it.
class Unexpected : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void expect(cl_int code, const char* call, cl_int wanted = CL_SUCCESS) {
  if (code != wanted)
    throw Unexpected(std::string(call) + " gave " + std::to_string(code) + ", not " + std::to_string(wanted));
}

}  // namespace fairgv::moves
