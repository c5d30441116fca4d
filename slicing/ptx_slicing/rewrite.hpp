// PTX modules whose kernels do not notice that they run in parts.
//
// The text that rewrite_for_slicing() returns is the application's, with more functions behind it: for every
// entry with `hidden` set, a copy that can be launched on any box of its grid. Where the entry, or a function
// that it calls, reads %ctaid or %nctaid (PTX ISA, "Special Registers"), the copy gets the block's place in
// the whole launch and the size of the whole launch. These travel as one hidden parameter behind the entry's
// own, which keep their offsets; functions get them from their callers, in copies of their own.
//
//   text ── rewrite ── module: the same, and `part_name` with one more parameter if `hidden` is set
//                        │
//   launch as a whole:  the entry, with the application's parameters
//   launch of a box:    part_name, grid = box.groups, the application's parameters,
//                       and HiddenParameter at offset
//
// Variables of a module exist once per loaded module, so that both must be in one; and an entry that had to
// add its place to every %ctaid was measured to take up to 3 % longer, which launches that run whole need not
// pay. The application's own lines do not move, so diagnostics, .loc and .file mean what they meant.
//
// An entry that is not sliceable must run whole, and has no copy. No text shows whether blocks wait for each
// other through global memory (in a cooperative launch or by luck). Such blocks would wait forever, so
// cooperative launches, and kernels that the user names, must run whole.
//
// Pure functions, for any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slicing/launch.hpp"

namespace fairgv::slicing {

/// The hidden parameter, byte for byte (little-endian, like all of PTX): `.param .align 4 .b8 name[24]`.
struct HiddenParameter {
  std::array<std::uint32_t, 3> first{0, 0, 0};   // the part's first block in the whole launch
  std::array<std::uint32_t, 3> counts{1, 1, 1};  // blocks of the whole launch
};
static_assert(sizeof(HiddenParameter) == 24 && alignof(HiddenParameter) == 4);

/// The parameter of one part. Precondition: a CUDA grid can have `blocks`, and the box lies in it.
HiddenParameter hidden_parameter(const Extent& blocks, const Box& part);

/// Where the hidden parameter lies, in bytes from the begin of the entry's parameter block, as CUDA lays it
/// out for cuLaunchKernel ("extra" buffer), and the index it has in `kernelParams`.
struct HiddenParameterPlace {
  std::uint32_t index = 0;
  std::uint32_t offset = 0;         // of HiddenParameter::first
  std::uint32_t counts_offset = 0;  // of HiddenParameter::counts
};

struct SlicedEntry {
  std::string name;
  bool sliceable = false;
  /// Why the entry is not sliceable, as a phrase for people: "it reads %envreg2, as synchronisation of the
  /// whole grid does".
  std::string reason;
  /// Nothing if neither the entry nor a function that it calls reads these registers: its parts need no
  /// parameter, and the entry itself runs them.
  std::optional<HiddenParameterPlace> hidden;
  std::string part_name;                  // of the entry that runs parts, if there is a hidden parameter
  std::uint32_t own_parameter_bytes = 0;  // of the application's parameters
  std::uint32_t parameter_bytes = 0;      // of all, the hidden one included
};

struct SlicedModule {
  std::string text;
  std::vector<SlicedEntry> entries;  // those with a body, in the order of the text
};

struct RewriteError {
  int line = 0;  // counted from 1
  std::string message;
};

struct RewriteOptions {
  /// The module will be linked with others (cuLinkAddData): they may call its functions, so these keep their
  /// parameters, and entries that depend on what such functions read are not sliceable.
  bool linked = false;
};

/// An error if the text cannot be read as PTX; the module then runs unchanged, whole.
std::variant<SlicedModule, RewriteError> rewrite_for_slicing(std::string_view ptx,
                                                             const RewriteOptions& options = {});

}  // namespace fairgv::slicing
