// The program's own pages: whether they are there. A program that registers memory may be wrong about it, or
// free it while it is registered.
#pragma once

#include <cstdint>

namespace fairgv::cuda {

/// Whether every page of the range is mapped, be it without access.
bool are_there(std::uint64_t begin, std::uint64_t size);
/// Makes the pages present, as a driver does that pins them. False: the program may not read them (or write).
bool make_present(std::uint64_t begin, std::uint64_t size, bool for_writing);

}  // namespace fairgv::cuda
