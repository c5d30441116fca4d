// The entry points of calls.def that only libcudart.so.12 has and that are not served.
#include "cuda-shim/cudart/abi/refused.hpp"

#define FGV_PASS(...)
#define FGV_PASS_STREAM(...)
#define FGV_HAND(...)
#define FGV_REFUSE(...)
#define FGV_REFUSE_12(subject, name)                             \
  extern "C" __attribute__((visibility("default"))) int name() { \
    return fairgv::cudart::refuse();                             \
  }
#include "cuda-shim/cudart/abi/calls.def"
