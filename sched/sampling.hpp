// Which commands of a turn are measured one by one, each alone on the device, while the others run freely and
// are measured together.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace fairgv::sched {

enum class Sampling : std::uint8_t {
  history,   // those of kinds whose time is not known from earlier turns (sched/command_history.hpp)
  per_turn,  // the first five of each measured turn, of whatever kind (FairGV, section 3.3.2)
  always,    // all, in lone turns, too: what section 3.3.1 says costs up to 7 %
};

/// Their names in the configuration; the first is the default.
inline constexpr std::array<std::pair<std::string_view, Sampling>, 3> kSamplings{
    {{"history", Sampling::history}, {"per-turn", Sampling::per_turn}, {"always", Sampling::always}}};

}  // namespace fairgv::sched
