// as_tenant [--direct] [--driver LIBRARY] PROGRAM [ARGUMENT...]: runs a CUDA program as a tenant of a daemon
// of its own, with FairGV's libraries in its path as a user has them, over this driver or the one found on
// the machine. With --direct the program has the driver in its own process. Its output and its status are the
// program's.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/harness/tenancy.hpp"

int main(int count, char** arguments) {
  std::vector<std::string> words(arguments + 1, arguments + count);
  const auto take = [&words] {
    const std::string first = words.front();
    words.erase(words.begin());
    return first;
  };
  bool direct = false;
  std::string configuration = "[cuda]\n";
  while (words.size() > 1 && words.front().starts_with("--")) {
    const std::string option = take();
    if (option == "--direct") {
      direct = true;
      configuration += "direct = \"fallback\"\n";
    } else if (option == "--driver" && words.size() > 1) {
      configuration += "library = \"" + take() + "\"\n";
    } else {
      words.clear();
    }
  }
  if (words.empty()) {
    std::fprintf(stderr, "usage: as_tenant [--direct] [--driver LIBRARY] PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  auto tenancy = fairgv::harness::Tenancy::start({}, {}, configuration);
  if (!tenancy) {
    std::fprintf(stderr, "as_tenant: %s\n", tenancy.error().message.c_str());
    return 2;
  }
  fairgv::harness::CommandLine command;
  command.arguments = words;
  const char* const own = std::getenv("LD_LIBRARY_PATH");
  const std::string folder = direct ? FAIRGV_CUDA_DIRECT_DIR ":" FAIRGV_CUDART_DIR : FAIRGV_CUDA_DIR;
  command.environment = {{"LD_LIBRARY_PATH", own == nullptr || *own == '\0' ? folder : folder + ":" + own},
                         {"FAIRGV_SOCKET", tenancy.value().socket()},
                         {"FAIRGV_TENANT", "tests"},
                         // Tests that run over several libraries read this variable.
                         {"FAIRGV_TEST_LIBCUDA", direct ? "direct" : "tenant"}};
  auto started = fairgv::harness::Child::start(command);
  if (!started) {
    std::fprintf(stderr, "as_tenant: %s\n", started.error().message.c_str());
    return 2;
  }
  const auto finished = fairgv::harness::finish(std::move(started).value());
  for (const std::string& line : finished.lines) std::printf("%s\n", line.c_str());
  return finished.status;
}
