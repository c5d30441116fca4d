// nvcc, as programs call it at run time (PyCUDA): `nvcc --cubin` makes PTX on the software device.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fairgv::jit {

/// How nvcc is to be called instead.
struct NvccCall {
  std::vector<std::string> arguments;  // the first is nvcc itself
  std::string output;                  // the file that it makes
};

/// Nothing if these arguments ask for no machine code (-cubin), or for that of several files or of something
/// other than CUDA C++. Pure logic.
std::optional<NvccCall> ptx_call(const std::vector<std::string>& arguments);

/// Does what these arguments ask for, with PTX in place of machine code, and ends the process; or returns.
void run_nvcc(const std::vector<std::string>& arguments);

}  // namespace fairgv::jit
