// The system calls that a worker and its children may make (seccomp, BPF; Linux, seccomp_filter.rst).
//
// Kernels of CPU devices are host code, so this is about what tenants may ask the operating system for. It
// lists the calls that are refused, not those that are allowed: drivers of several vendors must go on
// working.
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace fairgv::daemon {

/// A filter that, once installed, holds for the process and for all that it starts, for good:
///
/// - what examines or changes other processes, the system, its mounts, namespaces, clocks, keys or kernel,
///   and interfaces of the kernel with a history of faults that no driver needs: EPERM;
/// - signals and limits of other processes than the worker itself: EPERM;
/// - what has the kernel send signals when a file changes, leases, input for terminals, and what binds a
/// worker
///   to its daemon and its descendants to it: EPERM;
/// - sockets other than Unix ones: EAFNOSUPPORT;
/// - clone3, whose flags a filter cannot read, and calls that are newer than this file: ENOSYS, upon which
///   libraries use the older way;
/// - another architecture's calls: the process is killed.
class SyscallFilter {
 public:
  /// Whether this build knows the machine's architecture.
  static bool supported();

  /// Allocates: to be made before a fork.
  SyscallFilter();

  /// Confines the calling process, which must have no_new_privs. Async-signal-safe. False with errno.
  bool install();

 private:
  void refuse_listed();
  void guard_arguments();
  /// The call is refused when its argument of this index is one of the values.
  void refuse_if(long call, std::size_t argument, std::initializer_list<long> values);
  void add(const sock_filter& instruction) { program_.push_back(instruction); }
  void answer(unsigned what);

  std::vector<sock_filter> program_;
  std::vector<std::size_t> own_pid_;  // instructions that compare with the process' own number
};

}  // namespace fairgv::daemon
