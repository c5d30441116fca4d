// The daemon's answers while a trace is recorded, until they are written.
//
// Turning it into JSON takes about as long as the shortest commands, and the programs that are traced may
// need every core: so answers go to a temporary file as they come, and become a trace when nobody is traced
// any more.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

namespace fairgv::tools {

class TraceSpool {
 public:
  /// The file has no name, in the folder for temporary ones, and is gone with the object.
  static Result<TraceSpool> create();

  /// Fails when there is no room: earlier answers stay readable.
  Result<void> put(std::string_view answer);

  /// Calls `take`, which returns a Result<void>, with each answer from the first on.
  template <class Take>
  Result<void> read(Take take) {
    std::rewind(file_.get());
    std::string answer;
    for (std::uint64_t i = 0; i < answers_; ++i) {
      FAIRGV_CHECK(next(answer));
      FAIRGV_CHECK(take(answer));
    }
    return {};
  }

 private:
  explicit TraceSpool(std::FILE* file) : file_(file) {}
  Result<void> next(std::string& answer);
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t answers_ = 0;
};

}  // namespace fairgv::tools
