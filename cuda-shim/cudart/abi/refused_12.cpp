// The entry points of calls.def that only libcudart.so.12 has and that are not served.
#include "cuda-shim/cudart/abi/refused.hpp"

#define FAIRGV_PASS(...)
#define FAIRGV_PASS_STREAM(...)
#define FAIRGV_HAND(...)
#define FAIRGV_REFUSE(...)
#define FAIRGV_REFUSE_12(subject, name)                          \
  extern "C" __attribute__((visibility("default"))) int name() { \
    return fairgv::cudart::refuse();                             \
  }
#include "cuda-shim/cudart/abi/calls.def"
