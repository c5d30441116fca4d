// Sequences of records as an honest client would send them: fuzzing of the worker begins with these.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "runtime/wire/calls.hpp"
#include "tests/fuzz/records.hpp"

namespace fairgv::fuzz {

// Kinds of records that are not opcodes.
// The client writes to its arena: 16 bits of position, then the bytes.
inline constexpr std::uint16_t kScribble = 0xFFF0;
/// No message is sent until the driver has no work left.
inline constexpr std::uint16_t kSettle = 0xFFF1;

/// All programs that an input may have built. Their kernels do not touch the memory that they are given: with
/// the wrong buffers that would only harm the tenant itself.
inline constexpr std::array<std::string_view, 3> kPrograms{
    R"(__kernel void plain(__global float* a, __constant int* b, __local float* c, float4 d, int e) {}
__kernel void more(read_only image2d_t i, write_only image2d_t o, sampler_t s, __global int* g) {}
__kernel void spin(int n) { volatile int x = 0; for (int i = 0; i < (n & 15); ++i) x += (int)get_global_id(0); })",
    R"(int helper(int x);
__kernel void uses(int e) { volatile int x = helper(e); })",
    R"(int helper(int x) { return x + 1; })"};
inline constexpr std::array<std::string_view, 4> kBuildOptions{"", "-w", "-create-library", "-cl-std=CL3.0"};

std::vector<std::vector<Record>> worker_scripts();

}  // namespace fairgv::fuzz
