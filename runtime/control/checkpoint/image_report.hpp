// The content of a session's image, as people see it: read from the file of a checkpoint, or of a parked
// session, without a daemon. The reader believes nothing: a file that is damaged is an Error or shows what is
// there.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/control/checkpoint/facts.hpp"
#include "runtime/session/journal/journal_report.hpp"

namespace fairgv::control {

struct ImageReport {
  /// One that the program has not let go of.
  struct Object {
    std::uint32_t object = 0;  // the index of its id,
    std::uint32_t generation = 0;
    std::string made_by;         // the name of the call
    std::uint64_t contents = 0;  // bytes in the image; what lies in shared memory is not among them
    std::int32_t error = 0;      // of its API, with which it was made; 0: none
  };
  /// One that had not ended.
  struct Command {
    std::uint64_t number = 0;  // among all calls
    std::string name;
  };
  std::optional<CheckpointFacts> facts{};  // of a checkpoint's file
  std::string api{};
  session::JournalReport journal{};  // its bytes are those of the calls
  std::vector<Object> objects{};
  std::vector<Command> commands{};
  std::uint64_t events = 0;  // that the program holds
};

/// Errors are one line about the file, as "is a damaged image: ...".
Result<ImageReport> report_of_image(const UniqueFd& file);

/// The journal as `show` answers it, and beside it "api", "objects", "commands", "events" and, of a
/// checkpoint, "checkpoint".
nlohmann::json to_json(const ImageReport& report);

}  // namespace fairgv::control
