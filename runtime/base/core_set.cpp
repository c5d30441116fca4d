#include "runtime/base/core_set.hpp"

#include <charconv>
#include <optional>
#include <string>

namespace fairgv {
namespace {

/// Takes the number at the beginning off `text`; none if there is none or no core has it.
std::optional<std::size_t> take_core(std::string_view& text) {
  std::size_t core = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), core);
  if (error != std::errc() || core >= CPU_SETSIZE) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return core;
}

}  // namespace

Result<cpu_set_t> parse_core_set(std::string_view text) {
  const Error wrong{"'" + std::string(text) + "' is no list of cores such as \"0\" or \"0-3,8\""};
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (std::string_view rest = text;;) {
    const auto first = take_core(rest);
    auto last = first;
    if (first && rest.starts_with('-')) {
      rest.remove_prefix(1);
      last = take_core(rest);
    }
    if (!first || !last || *last < *first) return wrong;
    for (std::size_t core = *first; core <= *last; ++core) CPU_SET(core, &cores);
    if (rest.empty()) return cores;
    if (!rest.starts_with(',')) return wrong;
    rest.remove_prefix(1);
  }
}

Result<cpu_set_t> allowed_cores() {
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof(cores), &cores) != 0) return system_error("cannot find out the cores");
  return cores;
}

Result<void> run_on(const cpu_set_t& cores) {
  if (::sched_setaffinity(0, sizeof(cores), &cores) != 0) return system_error("cannot move to other cores");
  return {};
}

cpu_set_t other_cores(const cpu_set_t& all, const cpu_set_t& without) {
  cpu_set_t both;
  CPU_AND(&both, &all, &without);
  cpu_set_t others;
  CPU_XOR(&others, &all, &both);
  return others;
}

}  // namespace fairgv
