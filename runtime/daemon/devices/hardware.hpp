// Finds the host's devices that are the same hardware, shown by several drivers: they are shared as one
// device, with one dispatcher, one ledger of memory and one book, which are those of the first of them.
//
// All CPU devices are the host's processors, unless the configuration says of one that it stands for itself
// (cores that its driver was confined to). Another driver's device with the same UUID or bus address is the
// same, too. For any other device the configuration has to say it: `same_as` in [device.N].
//
// Pure logic.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/daemon/config/config.hpp"
#include "runtime/session/protocol.hpp"

namespace fairgv::daemon {

/// By device: the first one of the same hardware, which may be itself.
using Hardware = std::vector<std::uint32_t>;

/// The hardware of a device behind those of `table`, whose hardware is known.
std::uint32_t hardware_of(const session::DeviceDescription& added,
                          const std::vector<session::DeviceDescription>& table, const Hardware& hardware,
                          const DeviceRules& rules);

}  // namespace fairgv::daemon
