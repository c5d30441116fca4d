// The calls of every API, for those who take any: names in traces, tests of the codec. A new API adds its
// list.
#pragma once

#include "runtime/wire/calls.hpp"
#include "runtime/wire/cuda_calls.hpp"

namespace fairgv::wire {

/// Calls of several APIs are there several times.
using EveryCall = detail::Joined<AllCalls, cuda::AllCalls>::Type;

}  // namespace fairgv::wire
