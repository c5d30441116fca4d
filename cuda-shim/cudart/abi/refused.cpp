// The entry points of calls.def that are not served. They are exported, so that programs that link them run,
// and return an error when they are called. Their arguments are ignored, which the platform's calling
// convention allows.
#include "cuda-shim/cudart/abi/refused.hpp"

#define FAIRGV_PASS(...)
#define FAIRGV_PASS_STREAM(...)
#define FAIRGV_HAND(...)
#define FAIRGV_REFUSE_12(...)
#define FAIRGV_REFUSE(subject, name)                             \
  extern "C" __attribute__((visibility("default"))) int name() { \
    return fairgv::cudart::refuse();                             \
  }
#include "cuda-shim/cudart/abi/calls.def"
