// A pipe in the place of /dev/cpu_dma_latency.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "runtime/base/handle.hpp"
#include "tests/harness/temporary_folder.hpp"

namespace fairgv {

class WakeLatencyPipe {
 public:
  WakeLatencyPipe() : folder_(harness::TemporaryFolder::make()) {
    EXPECT_TRUE(folder_);
    EXPECT_EQ(::mkfifo(path().c_str(), 0600), 0);
    reader_ = UniqueFd(::open(path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    EXPECT_TRUE(reader_);
  }

  std::string path() const { return folder_.value() / "latency"; }

  /// The next limit that was written, in microseconds, if there is one; and whether the pipe is open for
  /// writing.
  using Seen = std::pair<std::optional<std::int32_t>, bool>;
  Seen look() {
    std::int32_t value = 0;
    const ssize_t length = ::read(reader_.get(), &value, sizeof(value));
    if (length == sizeof(value)) return {value, true};
    return {std::nullopt, length != 0};  // the end of a pipe: it is not open for writing
  }

 private:
  Result<harness::TemporaryFolder> folder_;
  UniqueFd reader_;
};

}  // namespace fairgv
