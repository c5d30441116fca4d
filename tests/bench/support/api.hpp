// --api: whether an experiment's workloads are the programs in OpenCL, those in CUDA, or both in turn, and
// whether tenants in CUDA have the driver in their own process.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

namespace fairgv::bench {

enum class Api { kOpenCl, kCuda, kMixed };

/// The APIs beside opencl and cuda that an experiment takes.
struct MoreApis {
  bool direct = false;  // cuda-direct: kCuda, whose tenants ask for direct mode
  bool mixed = false;   // mixed: kMixed
};

/// Declares --api. CUDA is refused where its workloads were not built.
void declare_api(CLI::App& app, Api& api, MoreApis more = {});

/// The workload's name under workloads/, such as "cuda/scan". With kMixed tenants at even places run the
/// program in OpenCL.
std::string workload_of(Api api, const std::string& name, std::size_t place = 0);

}  // namespace fairgv::bench
