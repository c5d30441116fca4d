#include "tests/bench/support/api.hpp"

#include <cstdlib>
#include <map>

#include "runtime/base/near_word.hpp"
#include "tests/bench/support/text/command_line.hpp"
#include "tests/harness/tenancy.hpp"

namespace fairgv::bench {
namespace {

constexpr const char* kDirect = "cuda-direct";

}  // namespace

void declare_api(CLI::App& app, Api& api, MoreApis more) {
  std::map<std::string, Api> names{{"opencl", Api::kOpenCl}, {"cuda", Api::kCuda}};
  std::string help = "opencl, cuda";
  if (more.direct) {
    names.emplace(kDirect, Api::kCuda);
    help += ", cuda-direct: the driver is in the tenants' processes";
  }
  if (more.mixed) {
    names.emplace("mixed", Api::kMixed);
    help += ", mixed: tenants in turn";
  }
  app.add_option_function<std::string>(
         "--api",
         [&api, names](const std::string& name) {
           const auto found = names.find(name);
           if (found == names.end()) {
             std::string known;
             for (const auto& [each, value] : names) known += (known.empty() ? "" : ", ") + each;
             throw CLI::ValidationError("--api",
                                        "there is no API '" + name + "': " + guess_and_list(name, known));
           }
           api = found->second;
           if (api != Api::kOpenCl && !known_workload("cuda/matrixMul").empty()) {
             throw CLI::ValidationError(
                 "--api", "the workloads in CUDA were not built: build FairGV where nvcc of CUDA 13 is");
           }
           if (name == kDirect) ::setenv(harness::kDirectVariable, "1", 1);
         },
         help)
      ->default_str("opencl");
}

std::string workload_of(Api api, const std::string& name, std::size_t place) {
  return api == Api::kCuda || (api == Api::kMixed && place % 2 == 1) ? "cuda/" + name : name;
}

}  // namespace fairgv::bench
