// The entry points of calls.def that are not served. They are exported, so that programs that link them run,
// and return an error when they are called. Their arguments are ignored, which the platform's calling
// convention allows.
#include "cuda-shim/cudart/abi/refused.hpp"

#define FGV_PASS(...)
#define FGV_PASS_STREAM(...)
#define FGV_HAND(...)
#define FGV_REFUSE_12(...)
#define FGV_REFUSE(subject, name)                                \
  extern "C" __attribute__((visibility("default"))) int name() { \
    return fairgv::cudart::refuse();                             \
  }
#include "cuda-shim/cudart/abi/calls.def"
