// PTX modules whose kernels do not notice that they run in parts.
//
// In the text that rewrite_for_slicing() returns, every entry that says so can be launched on any box of its
// grid: where it, or a function that it calls, reads %ctaid or %nctaid (PTX ISA, "Special Registers"), it
// gets the block's place in the whole launch and the size of the whole launch. These travel as one hidden
// parameter behind the entry's own, which keep their offsets; functions get them from their callers.
//
//   text ── rewrite ── module: one more parameter where `hidden` says so
//                        │
//   launch of a box:  grid = box.groups, parameters = the application's + HiddenParameter at hidden->offset
//   launch as a whole:  the same with the box of the whole grid
//
// The rewritten module takes the place of the application's own, whole launches included: variables of a
// module exist once per loaded module, so the two texts cannot be used side by side. All else in the text
// stays as it is; no line moves, so diagnostics, .loc and .file mean what they meant.
//
// An entry that is not sliceable must run whole, and runs as it did: without a hidden parameter. What no text
// shows: blocks that wait for each other through global memory (in a cooperative launch or by luck). They
// would wait forever, so cooperative launches, and kernels that the user names, must run whole.
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

/// Of one part. Precondition: counts of the whole launch that a CUDA grid can have, and a box in it.
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
  /// Why not, as a phrase for people: "it reads %envreg2, as synchronisation of the whole grid does".
  std::string reason;
  /// Nothing if the entry reads neither register (nor does what it calls): its parts need no parameter.
  std::optional<HiddenParameterPlace> hidden;
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

/// An error is a text that cannot be read as PTX; the module then runs as it is, whole.
std::variant<SlicedModule, RewriteError> rewrite_for_slicing(std::string_view ptx,
                                                             const RewriteOptions& options = {});

}  // namespace fairgv::slicing
