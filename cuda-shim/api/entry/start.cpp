// Entry points: initialisation, version, result codes, and entry points by name.
#include <cstring>

#include "cuda-shim/api/entry/entry.hpp"
#include "cuda-shim/api/entry/entry_points.hpp"

namespace fairgv::cuda {
namespace {

struct ResultCode {
  CUresult code;
  const char* name;
  const char* text;
};

constexpr ResultCode kResultCodes[] = {
#define FAIRGV_RESULT(code, text) {code, #code, text},
#include "cuda-shim/api/entry/result_codes.def"
#undef FAIRGV_RESULT
};

const ResultCode* find_code(CUresult code) {
  for (const ResultCode& row : kResultCodes) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuInit(unsigned int flags) {
  return any_time([=] { return flags != 0 ? CUDA_ERROR_INVALID_VALUE : Driver::initialize(); });
}

CUresult CUDAAPI cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = Driver::version();
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetErrorName(CUresult error, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const ResultCode* const row = find_code(error);
  *name = row == nullptr ? nullptr : row->name;
  return row == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const ResultCode* const row = find_code(error);
  *text = row == nullptr ? nullptr : row->text;
  return row == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult* status) {
  constexpr cuuint64_t kKnown =
      CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (symbol == nullptr || function == nullptr || (flags & ~kKnown) != 0 || flags == kKnown) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const EntryPointLookup found =
      find_entry_point(symbol, version, flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  *function = found.address;
  if (status != nullptr) {
    *status = found.address != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
              : found.known            ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                       : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return found.address != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// The tables are an undocumented interface between NVIDIA's own libraries.
CUresult CUDAAPI cuGetExportTable(const void** table, const CUuuid* id) {
  if (table == nullptr || id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *table = nullptr;
  return CUDA_ERROR_NOT_SUPPORTED;
}

// There is no profiler here, which the documentation allows ("Profiler Control").
CUresult CUDAAPI cuProfilerStart() {
  return in_context([](Driver&, Context&) { return CUDA_SUCCESS; });
}

CUresult CUDAAPI cuProfilerStop() {
  return in_context([](Driver&, Context&) { return CUDA_SUCCESS; });
}

}  // extern "C"
}  // namespace fairgv::cuda
