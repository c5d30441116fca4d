// Containers of linkable device code: archives (ar(5), as `nvcc -lib` makes them) and host objects (ELF, as
// `nvcc -dc` makes them), which hold fatbins in the section __nv_relfatbin. Pure, safe to call from any
// thread. All input is hostile: every length and offset is checked.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"

namespace fairgv::softcuda::link {

using Bytes = std::span<const std::byte>;

/// A member of an archive; its bytes are a view into the archive's.
struct Member {
  std::string name;
  Bytes bytes;
};

/// Without the archive's own tables.
Result<std::vector<Member>> members_of_archive(Bytes archive);

/// The fatbins of relocatable device code in an ELF file of 64 bits, one for each unit. None: it has no such
/// code.
Result<std::vector<Bytes>> fatbins_of_object(Bytes object);

}  // namespace fairgv::softcuda::link
