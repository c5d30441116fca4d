// Runs work in a separate process, because it may crash, hang, or end the process.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "runtime/base/result.hpp"

namespace fairgv::tools::doctor {

struct Apart {
  int status = 0;    // of the work, or of the program that it became
  std::string died;  // "was killed by signal 11 (Segmentation fault)", "did not end within 10 s"; else empty
  std::string said;  // its output to `out`, without the last line feed
};

/// Calls work(out) in a child of this process, which must have one thread only. The child has no terminal,
/// leaves no core file, and is killed when its time is up. It returns its exit status, or becomes another
/// program.
Result<Apart> run_apart(const std::function<int(int out)>& work,
                        std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace fairgv::tools::doctor
