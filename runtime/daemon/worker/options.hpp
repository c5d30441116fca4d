// The configuration's options for workers, in the form in which workers get them.
#pragma once

#include "runtime/daemon/config/config.hpp"
#include "runtime/session/worker_options.hpp"

namespace fairgv::daemon {

/// The caller adds what is the session's own: its number, descriptors, API and wish.
session::WorkerOptions worker_options(const Config& config);

}  // namespace fairgv::daemon
