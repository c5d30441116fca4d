// The daemon's log, read by a test.
#pragma once

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <cstddef>
#include <memory>
#include <sstream>
#include <string>

namespace fairgv::daemon {

/// While this object lives, the log's messages, each with the end of its line, go here.
class Log {
 public:
  Log() : before_(spdlog::default_logger()) {
    const auto sink = std::make_shared<spdlog::sinks::ostream_sink_st>(text_, true);
    sink->set_pattern("%v");
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink));
  }
  ~Log() { spdlog::set_default_logger(before_); }

  std::size_t count(const std::string& words) const {
    const std::string text = text_.str();
    std::size_t found = 0;
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++found;
    return found;
  }

 private:
  std::ostringstream text_;
  std::shared_ptr<spdlog::logger> before_;
};

}  // namespace fairgv::daemon
