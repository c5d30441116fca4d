// The deeds of a storm, for the output of one that fails.
#pragma once

#include <chrono>
#include <string>

namespace fairgv::integration::storm {

class Log {
 public:
  void add(const std::string& what) {
    const auto now = std::chrono::steady_clock::now();
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - began_);
    text_ += std::to_string(passed.count()) + " ms: " + what + '\n';
  }
  const std::string& text() const { return text_; }

 private:
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::string text_;
};

}  // namespace fairgv::integration::storm
