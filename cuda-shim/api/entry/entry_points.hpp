// Every entry point of the Driver API by name, version and default stream (cuGetProcAddress). The table is
// entry_points.def: a row for every symbol of the toolkit's own libcuda.
#pragma once

#include <span>

namespace fairgv::cuda {

enum class DefaultStreamKind { legacy, per_thread };

struct EntryPoint {
  const char* symbol;        // as exported: "cuMemcpyHtoD_v2_ptds"
  const char* name;          // as asked for: "cuMemcpyHtoD"
  DefaultStreamKind stream;  // per_thread: the _ptds or _ptsz one
  int version;               // CUDA version that brought it: 3020 = 3.2
  bool served;               // false: answers CUDA_ERROR_NOT_SUPPORTED
  void* address;
};

std::span<const EntryPoint> entry_points();

struct EntryPointLookup {
  void* address = nullptr;  // null: no such entry point
  bool known = false;       // some version has the name
};
/// The newest entry point that `version` knows. With `per_thread`, a call that has a variant for the thread's
/// own default stream is found only as that variant, as in NVIDIA's driver 580. Any other variant would use
/// the wrong stream.
EntryPointLookup find_entry_point(const char* name, int version, bool per_thread);

}  // namespace fairgv::cuda
