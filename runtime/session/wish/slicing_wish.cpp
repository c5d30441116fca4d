#include "runtime/session/wish/slicing_wish.hpp"

#include <charconv>
#include <optional>
#include <string_view>

#include "runtime/base/json_fields.hpp"

namespace fairgv::session {
namespace {

using Kind = SlicingWish::Kind;

constexpr std::string_view kRandom = "random:";
constexpr std::string_view kBlocks = "blocks:";
constexpr std::size_t kLongestShown = 64;

/// The number behind `prefix`; none if the text is anything else.
std::optional<std::uint64_t> number_behind(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  if (code != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace

Result<SlicingWish> parse_slicing_wish(const std::string& text, const std::string& source) {
  if (text.empty()) return SlicingWish{};
  if (text == "off") return SlicingWish{Kind::off};
  if (text == "always") return SlicingWish{Kind::always};
  if (const auto seed = number_behind(kRandom, text)) return SlicingWish{Kind::random, *seed};
  if (const auto blocks = number_behind(kBlocks, text); blocks && *blocks > 0) {
    return SlicingWish{Kind::blocks, *blocks};
  }
  return Error{source + " is '" + printable(text, kLongestShown) +
               "': it can be off, always, random:SEED or blocks:N with whole numbers, N at least 1"};
}

std::string to_text(const SlicingWish& wish) {
  switch (wish.kind) {
    case Kind::as_configured:
      break;
    case Kind::off:
      return "off";
    case Kind::always:
      return "always";
    case Kind::random:
      return std::string(kRandom) + std::to_string(wish.number);
    case Kind::blocks:
      return std::string(kBlocks) + std::to_string(wish.number);
  }
  return "";
}

}  // namespace fairgv::session
