// Kernels of every kind that slicing must not change: their results depend on the launch in all the ways that
// OpenCL C offers.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace fairgv::test {

// The kernel's parameters: (global ulong* out, uint slots, global uint* counters), and for `images` also
// (read_only image2d_t source, write_only image2d_t target), both kImageWidth x kImageHeight of one uint.
struct Subject {
  std::string kernel{};
  std::string options{};
  std::vector<std::string> sources{};  // several are compiled and linked
  bool images = false;
  bool reads_header = false;  // #include "from_folder.h" (-I) and, when linked, "from_program.h"
};

inline constexpr std::size_t kCounters = 64;
inline constexpr std::size_t kImageWidth = 128;
inline constexpr std::size_t kImageHeight = 128;

// The contents of the two headers.
extern const char* const kFolderHeader;
extern const char* const kProgramHeader;

std::vector<Subject> corpus();

void PrintTo(const Subject& subject, std::ostream* out);

}  // namespace fairgv::test
