// The tenants of a storm, each of which runs one program after another. A program that nobody has hit must
// end with status 0 and the results that it has without a storm.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/harness/child.hpp"
#include "tests/harness/tenancy.hpp"
#include "tests/moves/plan/random.hpp"
#include "tests/moves/storm/log.hpp"

namespace fairgv::integration::storm {

class Slots {
 public:
  /// Their programs are told to end by files in `folder`. The seeds of random programs are 1 to
  /// `random_programs`.
  Slots(Log& log, const std::filesystem::path& folder, std::size_t tenants, std::uint64_t random_programs);

  /// Some of the programs lose their session by a kernel of their own, and begin again.
  void add_crashes() { has_crashes_ = true; }
  /// Runs the random program of this seed for the results that it is to have in the storm.
  void expect(const harness::Tenancy& tenancy, std::uint64_t seed);

  /// Judges programs that have ended, and starts others in their place.
  void look_after(const harness::Tenancy& tenancy, moves::Random& random);
  /// Tells programs without an end to end.
  void stop();
  /// Judges programs that have ended. Whether all have.
  bool reap();

  std::vector<std::string> tenants() const;
  const std::string& any_tenant(moves::Random& random) const;
  /// This program may fail from now on.
  void hit(pid_t program);
  void kill_client(const std::string& tenant);

  /// How many programs there were, by what became of them.
  void print(std::ostream& out) const;

 private:
  struct Slot {
    std::string tenant;
    std::filesystem::path stop_file;
    std::optional<harness::Child> child{};
    std::vector<std::string> command{};
    std::vector<std::string> lines{};
    std::vector<std::string> expected{};  // of a random program
    std::chrono::steady_clock::time_point stop_at{};
    bool was_hit = false;
  };
  void start(Slot& slot, const harness::Tenancy& tenancy, moves::Random& random);
  void take_lines(Slot& slot);
  void judge(Slot& slot);
  static void begin(Slot& slot, const harness::CommandLine& command);

  Log& log_;
  const std::uint64_t random_programs_;
  bool has_crashes_ = false;
  std::vector<Slot> slots_;
  std::map<std::uint64_t, std::vector<std::string>> expected_;
  std::uint64_t right_ = 0, hits_ = 0;
};

}  // namespace fairgv::integration::storm
