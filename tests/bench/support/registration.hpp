// The experiments of the program fairgv-bench, each under the name by which `fairgv bench` knows it.
#pragma once

#include <map>
#include <string>

namespace fairgv::bench {

/// A constant of its own in an experiment's file: before main() begins, all are known.
class Registration {
 public:
  /// Like main(): returns the exit status.
  using Main = int (*)(int argc, char** argv);

  Registration(const char* name, Main run) { all()[name] = run; }

  static std::map<std::string, Main>& all() {
    static std::map<std::string, Main> experiments;
    return experiments;
  }
};

}  // namespace fairgv::bench
