// The first of several moments at which something wants to be done, each of which may not be there.
#pragma once

#include <optional>

namespace fairgv::daemon {

template <class Time>
void keep_earlier(std::optional<Time>& first, const std::optional<Time>& other) {
  if (other && (!first || *other < *first)) first = other;
}

}  // namespace fairgv::daemon
