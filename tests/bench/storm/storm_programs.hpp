// The programs that `fairgv bench storm` runs as tenants: some compute, some do harm, and each says how it
// should end.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fairgv::bench::storm_experiment {

/// The plan of a tenant's program. From `hold` on, its kernels are code of the worker's process.
enum class Kind {
  compute,
  refused,    // its memory
  crash,      // its kernel, after which it goes on in a session of its own
  never_end,  // the same
  hold,       // a kernel that cannot be cut, in the midst of which its program is killed
  forge,      // takes turn after turn by itself, and reports nothing
  sleep,      // the same, and keeps turns without computing
  outside,    // computes without a turn
  freeze,     // reads its worker's knocks away
  daemonize,  // leaves a process behind
  flood,      // prints without end
};

/// The end of a program.
enum class End { by_itself, killed_under_way };

struct Trait {
  Kind kind;
  const char* told;  // in the table
  bool harms = false;
  End end = End::by_itself;
  /// The exit statuses with which it may end if no fault hits it. For some programs the daemon may end the
  /// session.
  std::vector<int> statuses{0};
};

const Trait& trait_of(Kind kind);

/// A number between two, both included.
using Draw = std::function<std::uint64_t(std::uint64_t, std::uint64_t)>;

/// A kind at random; most compute. Kinds whose kernels act on the worker's process only if `on_the_host`.
Kind draw_kind(const Draw& draw, bool on_the_host);

/// The program and its arguments.
std::vector<std::string> program_of(Kind kind, const Draw& draw);

/// A program that launches a kernel that computes for so long; its status is 4 where kernels are not code of
/// the worker's process.
std::vector<std::string> probe_of_the_host();
inline constexpr int kNotOnTheHost = 4;

}  // namespace fairgv::bench::storm_experiment
