// The entry points of calls.def that are the driver's functions under another name.
#include "cuda-shim/cudart/runtime.hpp"

namespace fairgv::cudart {

#define FGV_ARGUMENTS(...) __VA_OPT__(, ) __VA_ARGS__
#define FGV_PASS(subject, needs, name, function, parameters, arguments) \
  FGV_CALL(needs, name, parameters, arguments) {                        \
    return pass(driver.function FGV_ARGUMENTS arguments);               \
  }
#define FGV_PASS_STREAM(subject, needs, name, suffix, function, parameters, arguments) \
  FGV_STREAM_CALL(needs, name, suffix, parameters, arguments) {                        \
    return pass(driver.function FGV_ARGUMENTS arguments);                              \
  }
#define FGV_HAND(...)
#define FGV_REFUSE(...)
#define FGV_REFUSE_12(...)
#include "cuda-shim/cudart/abi/calls.def"

}  // namespace fairgv::cudart
