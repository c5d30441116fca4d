#include "cuda-shim/softcuda/driver/launch/device_printf.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "cuda-shim/softcuda/translate/runtime_block.hpp"

namespace fairgv::cuda::soft {

using softcuda::PrintfRecord;

namespace {

class Arguments {
 public:
  explicit Arguments(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename Value>
  std::optional<Value> next() {
    at_ = (at_ + sizeof(Value) - 1) / sizeof(Value) * sizeof(Value);
    if (at_ > bytes_.size() || bytes_.size() - at_ < sizeof(Value)) return std::nullopt;
    Value value{};
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

/// One conversion of a format: "%-8.3f". Width and precision as numbers, from the text or from arguments.
struct Conversion {
  std::string flags;
  std::optional<int> width, precision;
  bool wide = false;  // 8 bytes: l, ll, j, z, t
  char letter = '\0';
};

std::optional<int> read_number(const char*& at, Arguments& arguments) {
  if (*at == '*') {
    ++at;
    return arguments.next<std::int32_t>();
  }
  constexpr int kLargest = 4096;  // wider than any line; keeps a kernel from asking for gigabytes of blanks
  int number = 0;
  while (*at >= '0' && *at <= '9') number = std::min(kLargest, number * 10 + (*at++ - '0'));
  return number;
}

Conversion read_conversion(const char*& at, Arguments& arguments) {
  Conversion conversion;
  while (*at != '\0' && std::strchr("-+ #0", *at) != nullptr) conversion.flags += *at++;
  if (*at == '*' || (*at >= '1' && *at <= '9')) conversion.width = read_number(at, arguments);
  if (*at == '.') {
    ++at;
    conversion.precision = read_number(at, arguments);
  }
  while (*at != '\0' && std::strchr("hlLjzt", *at) != nullptr) {
    conversion.wide = conversion.wide || (*at != 'h' && *at != 'L');
    ++at;
  }
  if (*at != '\0') conversion.letter = *at++;
  return conversion;
}

template <typename Value>
void append(std::string& text, const Conversion& conversion, const char* length, std::optional<Value> value) {
  if (!value) return;
  const std::string format = "%" + conversion.flags + "*.*" + length + conversion.letter;
  const int width = conversion.width.value_or(0);
  const int precision = conversion.precision.value_or(-1);
  const int size = std::snprintf(nullptr, 0, format.c_str(), width, precision, *value);
  if (size <= 0) return;
  std::string piece(static_cast<std::size_t>(size) + 1, '\0');
  std::snprintf(piece.data(), piece.size(), format.c_str(), width, precision, *value);
  piece.pop_back();
  text += piece;
}

std::optional<const char*> as_string(std::optional<std::uint64_t> address) {
  if (!address) return std::nullopt;
  return *address == 0 ? "(null)" : reinterpret_cast<const char*>(*address);
}

void append_argument(std::string& text, const Conversion& conversion, Arguments& arguments) {
  switch (conversion.letter) {
    case 'd':
    case 'i':
      if (conversion.wide) return append(text, conversion, "ll", arguments.next<long long>());
      return append(text, conversion, "", arguments.next<int>());
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      if (conversion.wide) return append(text, conversion, "ll", arguments.next<unsigned long long>());
      return append(text, conversion, "", arguments.next<unsigned>());
    case 'c': {
      // Without a precision, which has no meaning for %c.
      Conversion plain = conversion;
      plain.precision.reset();
      return append(text, plain, "", arguments.next<int>());
    }
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      return append(text, conversion, "", arguments.next<double>());
    case 's':
      return append(text, conversion, "", as_string(arguments.next<std::uint64_t>()));
    case 'p': {
      const auto address = arguments.next<std::uint64_t>();
      if (!address) return;
      return append<const void*>(text, conversion, "", reinterpret_cast<const void*>(*address));
    }
    default:  // CUDA prints unknown conversions as they stand
      text += '%';
      text += conversion.letter;
  }
}

}  // namespace

std::string format_device_text(const char* format, std::span<const std::byte> bytes) {
  std::string text;
  Arguments arguments(bytes);
  while (*format != '\0') {
    const char* const percent = std::strchr(format, '%');
    if (percent == nullptr) return text + format;
    text.append(format, percent);
    format = percent + 1;
    if (*format == '%') {
      text += *format++;
      continue;
    }
    const Conversion conversion = read_conversion(format, arguments);
    if (conversion.letter == '\0') break;
    append_argument(text, conversion, arguments);
  }
  return text;
}

std::string text_of_ring(const std::byte* ring, std::uint64_t used, std::uint64_t capacity) {
  std::string text;
  const std::uint64_t end = std::min(used, capacity);
  std::uint64_t at = 0;
  while (end - at >= sizeof(PrintfRecord)) {
    PrintfRecord record;
    std::memcpy(&record, ring + at, sizeof record);
    at += sizeof record;
    if (record.complete != 1 || record.argument_bytes > end - at) break;  // the first record that did not fit
    text +=
        format_device_text(reinterpret_cast<const char*>(record.format), {ring + at, record.argument_bytes});
    at += (std::uint64_t{record.argument_bytes} + 7) / 8 * 8;
    if (at > end) break;
  }
  return text;
}

}  // namespace fairgv::cuda::soft
