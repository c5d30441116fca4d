// The entry points of calls.def that are the driver's functions under another name.
#include "cuda-shim/cudart/runtime.hpp"

namespace fairgv::cudart {

#define FAIRGV_ARGUMENTS(...) __VA_OPT__(, ) __VA_ARGS__
#define FAIRGV_PASS(subject, needs, name, function, parameters, arguments) \
  FAIRGV_CALL(needs, name, parameters, arguments) {                        \
    return pass(driver.function FAIRGV_ARGUMENTS arguments);               \
  }
#define FAIRGV_PASS_STREAM(subject, needs, name, suffix, function, parameters, arguments) \
  FAIRGV_STREAM_CALL(needs, name, suffix, parameters, arguments) {                        \
    return pass(driver.function FAIRGV_ARGUMENTS arguments);                              \
  }
#define FAIRGV_HAND(...)
#define FAIRGV_REFUSE(...)
#define FAIRGV_REFUSE_12(...)
#include "cuda-shim/cudart/abi/calls.def"

}  // namespace fairgv::cudart
