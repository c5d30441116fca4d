// A tenant's part of one oversold device, as one daemon leaves it to the next.
#pragma once

#include <cstdint>

#include "sched/attributes.hpp"

namespace fairgv::daemon {

struct Holding {
  std::uint32_t device = 0;
  sched::Share bought{};
  sched::Share cap{};

  friend bool operator==(const Holding&, const Holding&) = default;
};

}  // namespace fairgv::daemon
