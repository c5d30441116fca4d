// as_tenant [--driver LIBRARY] PROGRAM [ARGUMENT...]: runs a CUDA program as a tenant of a daemon of its own,
// with FairGV's libraries in its path as a user has them, over this driver or the one found on the machine.
// Its output and its status are the program's.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/harness/tenancy.hpp"

int main(int count, char** arguments) {
  std::string configuration;
  if (count > 2 && std::string(arguments[1]) == "--driver") {
    configuration = "[cuda]\nlibrary = \"" + std::string(arguments[2]) + "\"\n";
    arguments += 2;
    count -= 2;
  }
  if (count < 2) {
    std::fprintf(stderr, "usage: as_tenant [--driver LIBRARY] PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  auto tenancy = fairgv::harness::Tenancy::start({}, {}, configuration);
  if (!tenancy) {
    std::fprintf(stderr, "as_tenant: %s\n", tenancy.error().message.c_str());
    return 2;
  }
  fairgv::harness::CommandLine command;
  command.arguments.assign(arguments + 1, arguments + count);
  const char* const own = std::getenv("LD_LIBRARY_PATH");
  command.environment = {
      {"LD_LIBRARY_PATH", own == nullptr || *own == '\0' ? std::string(FAIRGV_CUDA_DIR)
                                                         : std::string(FAIRGV_CUDA_DIR) + ":" + own},
      {"FAIRGV_SOCKET", tenancy.value().socket()},
      {"FAIRGV_TENANT", "tests"},
      // Tests that run over both drivers read this variable.
      {"FAIRGV_TEST_LIBCUDA", "tenant"}};
  auto started = fairgv::harness::Child::start(command);
  if (!started) {
    std::fprintf(stderr, "as_tenant: %s\n", started.error().message.c_str());
    return 2;
  }
  const auto finished = fairgv::harness::finish(std::move(started).value());
  for (const std::string& line : finished.lines) std::printf("%s\n", line.c_str());
  return finished.status;
}
