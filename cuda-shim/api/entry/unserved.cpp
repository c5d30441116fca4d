// Entry points of the table that are not served: each returns an error and ignores its arguments. The calling
// conventions of the 64-bit systems that CUDA runs on allow that (the caller cleans up).
namespace {

constexpr int kNotSupported = 801;  // CUDA_ERROR_NOT_SUPPORTED

}  // namespace

#define FAIRGV_DEFINE_true(symbol)
#define FAIRGV_DEFINE_false(symbol) \
  extern "C" int symbol() {         \
    return kNotSupported;           \
  }
#define FAIRGV_ENTRY(symbol, name, stream, version, served) FAIRGV_DEFINE_##served(symbol)
#include "cuda-shim/api/entry/entry_points.def"
