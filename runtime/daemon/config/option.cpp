#include "runtime/daemon/config/option.hpp"

#include <array>
#include <cstdio>

namespace fairgv::daemon {
namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

std::string short_number(double number) {
  std::string digits = std::to_string(number);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

template <class Texts, class Written>
std::string joined(const Texts& texts, Written written) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + written(text);
  return list;
}

}  // namespace

std::string expected(const OptionType& type) {
  return std::visit(
      Overloaded{
          [](const TextType& text) { return std::string(text.what); },
          [](const ChoiceType& choice) {
            return "one of " + joined(choice.choices, [](const std::string& name) { return name; });
          },
          [](const IntegerType& range) {
            return "an integer from " + std::to_string(range.least) + " to " + std::to_string(range.most);
          },
          [](const NumberType& range) {
            return "a number from " + short_number(range.least) + " to " + short_number(range.most);
          },
          [](const TruthType&) { return std::string("true or false"); },
          [](const DeviceMemoryType&) { return std::string("bytes, or text such as \"512MiB\" or \"25%\""); },
          [](const BytesType& range) {
            return "an amount of memory in quotes, from \"" + to_text(MemorySize{range.least}) + "\" to \"" +
                   to_text(MemorySize{range.most}) + "\"";
          },
          [](const ListType& list) {
            return "a list of at most " + std::to_string(list.most) + " " + list.what;
          },
      },
      type);
}

std::string to_toml(const OptionValue& value, const OptionType& type) {
  return std::visit(
      Overloaded{
          [](bool truth) { return std::string(truth ? "true" : "false"); },
          [&](std::int64_t number) {
            if (!std::holds_alternative<BytesType>(type)) return std::to_string(number);
            return toml_text(to_text(MemorySize{static_cast<std::uint64_t>(number)}));
          },
          [](double number) { return short_number(number); },
          [](const std::string& text) { return toml_text(text); },
          [](const std::vector<std::string>& texts) { return "[" + joined(texts, toml_text) + "]"; },
          [](const MemorySize& size) { return toml_text(to_text(size)); },
      },
      value);
}

std::string toml_text(std::string_view text) {
  std::string quote = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quote += '\\';
      quote += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04X", static_cast<unsigned>(c));
      quote += escape.data();
    } else {
      quote += c;
    }
  }
  return quote + '"';
}

}  // namespace fairgv::daemon
