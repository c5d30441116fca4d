// The driver that the program uses, asked by the functions that stand in front of run-time compilers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace fairgv::jit {

/// Whether a device of the program's driver (the libcuda.so.1 that it finds) is FairGV's software device,
/// which runs PTX and no machine code. The driver is initialised for the question if the program has not done
/// it yet. Its answer is kept; without a driver or device the answer is no, and is asked for again.
/// Any thread.
bool is_software_device();

/// Something to be linked. `type` counts as the Driver API's CUjitInputType does.
struct LinkInput {
  int type = 0;
  std::string bytes;
  std::string name;
};

inline constexpr int kCubinInput = 0;
inline constexpr int kPtxInput = 1;
inline constexpr int kFatbinInput = 2;
inline constexpr int kObjectInput = 3;
inline constexpr int kLibraryInput = 4;

/// Linked by the driver (cuLinkCreate and its kin), in the thread's current context. Nothing, and `error`
/// says why, if the driver refuses.
std::optional<std::string> link_by_driver(const std::vector<LinkInput>& inputs, std::string& error);

}  // namespace fairgv::jit
