// The output of `fairgv ps`: the daemon's report as lines of text, at most `width` columns wide.
//
// Pure logic, for the tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/control/protocol.hpp"

namespace fairgv::tools {

struct PsView {
  std::size_t width = 80;  // of the terminal; less is not kept to
  std::string sort{};      // one of ps_columns(); empty: as the daemon has them
  std::function<std::string(std::uint32_t uid)> user_name = [](std::uint32_t uid) {
    return std::to_string(uid);
  };
};

/// The columns of sessions, in the order in which they can be shown.
const std::vector<std::string>& ps_columns();

/// Devices with their tenants, sessions, long commands, and killed sessions.
std::vector<std::string> ps_lines(const control::Report& report, const PsView& view);

/// One table of all sessions with these columns, each as wide as it needs to be, a heading first. The names
/// must be of ps_columns().
std::vector<std::string> ps_sessions(const control::Report& report, const std::vector<std::string>& columns,
                                     const PsView& view);

/// `text` broken between words into lines of at most `width` columns; the first is indented by `first`, the
/// others by `others`. A word that is longer than a line stays whole.
std::vector<std::string> wrapped(const std::string& text, std::size_t width, std::size_t first,
                                 std::size_t others);

}  // namespace fairgv::tools
