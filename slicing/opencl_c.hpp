// OpenCL C programs that do not notice that they run in sub-launches.
//
// sliceable_source() puts a prelude in front of a source. In the program that is built from it,
// get_work_dim(), get_global_size(), get_global_id(), get_num_groups(), get_group_id(), get_global_offset()
// and get_global_linear_id() answer as in the whole launch, in kernels, helper functions, macros and headers,
// whatever -cl-std says; the other work-item functions do so natively (OpenCL C 3.0, section 6.15.1). That
// program is for the launches of encode() (slicing/driver_launch.hpp) only: whole launches run the
// application's own.
//
// The caller builds it when a launch is to be sliced for the first time, with the application's options
// (without -w, see below) and with all of a linked program's sources rewritten. Where any of this fails,
// launches run whole:
//  - The rewritten program does not build. It does not, by intent, if a header or an option redefines a
//    work-item function; -w would hide that.
//  - It has variables in global memory (CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE is not zero, or see
//    slicing/program_variables.hpp): the rewritten program has others than the application's own.
//  - A source, library or binary that is linked in was not rewritten.
//
// Pure functions, for any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fairgv::slicing {

// The text to put in front of a source, for launches of 1, 2 or 3 dimensions: a kernel that is launched with
// different numbers of dimensions needs a program for each. The text ends with a #line that makes the next
// line number 1, so that __LINE__ and diagnostics are those of the application. It adds no warning, no symbol
// that is visible to a linker, and nothing when it comes a second time (a header that was rewritten too).
std::string prelude(std::uint32_t dimensions);

std::string sliceable_source(std::string_view source, std::uint32_t dimensions);

// Why programs from this source must run whole, as a phrase for people ("it uses pipes"); nothing if no
// reason is seen. Only the words of the text count: an unused function counts, but a reason in a header or
// behind an option is not seen.
//
// No text shows whether a kernel's work-groups wait for each other through global memory. Sub-launches run
// one after the other, so the first would wait forever. Only the user can tell, by naming the kernel.
std::optional<std::string_view> why_not_sliceable(std::string_view source);

}  // namespace fairgv::slicing
