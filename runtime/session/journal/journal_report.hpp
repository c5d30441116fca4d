// A session's journal as people see it (runtime/vgpu/journal), and how the daemon gets it: it orders it
// from the worker with a memory file of fixed size, which the worker fills.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"

namespace fairgv::session {

struct JournalReport {
  struct Call {
    std::uint64_t number = 0;  // in the order of the calls
    std::string name;
    std::uint32_t object = 0;          // that it makes or changes: the index of its id,
    std::uint32_t generation = 0;      // and which object of that index it is
    std::uint64_t bytes = 0;           // of the encoded call
    std::vector<std::uint64_t> needs;  // numbers of earlier calls
    bool released = false;             // the program has let go of the object, which others need
  };
  std::uint64_t bytes = 0;     // that the journal takes
  bool gave_up = false;        // it has been too long, and is kept no more
  std::uint64_t left_out = 0;  // calls that are not told
  std::vector<Call> calls;
};

/// The size of the memory file, and the most calls, of so many needs together, that are told: they fit.
inline constexpr std::uint64_t kLongestJournalReport = std::uint64_t{4} << 20;
inline constexpr std::size_t kMostReportedCalls = 16'000;
inline constexpr std::size_t kMostReportedNeeds = 64'000;

std::string to_text(const JournalReport& report);
Result<JournalReport> parse_journal_report(std::string_view text);

/// The daemon's order to a worker (session/move/orders.hpp); the memory file comes with it.
struct ShowJournal {};
std::string to_text(const ShowJournal& order);

/// The worker's answer: the report's bytes in the file.
struct JournalShown {
  std::uint64_t bytes = 0;
};
std::string to_text(const JournalShown& answer);

}  // namespace fairgv::session
