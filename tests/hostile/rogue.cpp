// rogue: an OpenCL program whose kernels play their worker's part (deeds.hpp says which deeds there are). As
// a tenant's program: `fairgv run -- rogue outside`. It launches kernels of --milliseconds, --rounds times or
// until it is killed, and prints a line of JSON before the first and after each: {"rounds": N}. It uses
// nothing but OpenCL. Exit status: 0 after the last round; 3 when its session is lost; 4 where the device is
// not the host's processors, so that its kernels could do nothing.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tests/hostile/deeds.hpp"

namespace {

using namespace fairgv::hostile;

constexpr int kLost = 3;
constexpr int kNotOnTheHost = 4;

void tell(unsigned rounds) {
  std::printf("{\"rounds\": %u}\n", rounds);
  std::fflush(stdout);
}

int commit(const Deed& deed, std::chrono::milliseconds each, unsigned rounds) {
  workloads::Device device("0", "0");
  if (!runs_on_the_host(device)) {
    std::fprintf(stderr, "rogue: the device does not run on the host's processors\n");
    return kNotOnTheHost;
  }
  DeedRunner runner(deed, each, std::move(device));
  tell(0);
  for (unsigned done = 1; rounds == 0 || done <= rounds; ++done) {
    runner.commit();
    tell(done);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("a tenant that plays its worker's part itself", "rogue");
  std::string name;
  unsigned milliseconds = 500;
  unsigned rounds = 0;
  std::vector<std::string> names;
  for (const Deed& deed : deeds()) names.emplace_back(deed.name);
  app.add_option("deed", name, "what its kernels do")->required()->check(CLI::IsMember(names));
  app.add_option("--milliseconds", milliseconds, "how long each kernel takes");
  app.add_option("--rounds", rounds, "how many kernels; 0: until it is killed");
  CLI11_PARSE(app, argc, argv);
  try {
    return commit(*find_deed(name), std::chrono::milliseconds(milliseconds), rounds);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rogue: %s\n", error.what());
    return kLost;
  }
}
