// fairgv-bench: every experiment under the name by which it is called, fairgv-bench-NAME (a link to this
// one).
#include <fmt/core.h>

#include <filesystem>

#include "tests/bench/support/registration.hpp"
#include "tests/bench/support/supervised.hpp"

int main(int argc, char** argv) {
  constexpr std::string_view kPrefix = "fairgv-bench-";
  const std::string called = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "";
  const auto& experiments = fairgv::bench::Registration::all();
  const auto experiment =
      called.starts_with(kPrefix) ? experiments.find(called.substr(kPrefix.size())) : experiments.end();
  if (experiment == experiments.end()) {
    fmt::print(stderr,
               "fairgv-bench: '{}' names no experiment: use fairgv bench NAME, or fairgv bench for a list\n",
               called);
    return 2;
  }
  return fairgv::bench::supervised([&] { return experiment->second(argc, argv); });
}
