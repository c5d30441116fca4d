// Runs the experiments that lie beside this program, fairgv-bench-NAME, one after the other.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/report/folder.hpp"

namespace fairgv::bench::report {

struct Wish {
  std::vector<std::string> only;  // all when empty
  bool quick = false;
  unsigned device_cores = 0;  // for those that can place the device; 0: anywhere
  double limit_min = 120;     // of one experiment; one that takes longer is killed, and has failed
};

/// Those that lie beside this program, in the catalogue's order, then the others.
std::vector<std::string> experiments();

/// Runs one, with those of --quick, --csv, --figure and --device-cores that it takes, and prints its output.
/// Leaves its files in the folder. Fails only if it could not even be started, or the folder not be written.
Result<Attempt> attempt(const std::string& name, const Wish& wish, const Folder& folder);

}  // namespace fairgv::bench::report
