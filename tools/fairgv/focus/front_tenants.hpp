// The tenants to which a window's process belongs.
//
// Pure logic beside the kernel's table of processes.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "runtime/control/protocol.hpp"

namespace fairgv::tools::focus {

/// The parent of a process; none: there is no such process.
using ParentOf = std::function<std::optional<pid_t>(pid_t)>;

/// The first of these that there is:
/// - the tenants whose programs are the window's process;
/// - those whose programs it or its descendants have started: the programs in a terminal are in front with
/// it;
/// - the tenant of the nearest program that has started it: a program that shows its results in a viewer.
std::set<std::string> tenants_in_front(const control::Report& report, pid_t window,
                                       const ParentOf& parent_of);

/// Looks in /proc.
std::optional<pid_t> parent_of(pid_t process);

}  // namespace fairgv::tools::focus
