#pragma once
// One JSON object printed as one line.

#include <cstdint>
#include <string>
#include <string_view>

namespace workloads {

class JsonLine {
 public:
  JsonLine& text(std::string_view key, std::string_view value);
  JsonLine& boolean(std::string_view key, bool value);
  JsonLine& null(std::string_view key);
  JsonLine& count(std::string_view key, std::uint64_t value);

  /// A finite number, written with `decimals` digits after the point.
  JsonLine& number(std::string_view key, double value, int decimals);

  /// Writes the object and a line end to standard output and flushes it.
  void print() const;

 private:
  JsonLine& raw(std::string_view key, std::string_view value);

  std::string members_;
};

}  // namespace workloads
