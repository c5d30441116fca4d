// Physical memory at addresses that another process's driver had given to linear memory: where the driver
// cannot put memory of its own there, virtual memory management can.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/vgpu/cuda/objects.hpp"

namespace fairgv::vgpu::cuda {

/// Whole granules. It ends with the last allocation in it.
class MappedBlock {
 public:
  /// An Error, as one line, if the driver does not have them there.
  static Result<std::shared_ptr<MappedBlock>> make(const std::shared_ptr<Context>& context,
                                                   std::uint64_t address, std::uint64_t bytes);
  MappedBlock(std::shared_ptr<Context> context, std::uint64_t address, std::uint64_t bytes)
      : context_(std::move(context)), address_(address), bytes_(bytes) {}
  ~MappedBlock();
  MappedBlock(const MappedBlock&) = delete;
  MappedBlock& operator=(const MappedBlock&) = delete;

  bool contains(std::uint64_t address) const { return address - address_ < bytes_; }

 private:
  Result<void> map();

  const std::shared_ptr<Context> context_;
  const std::uint64_t address_, bytes_;
  CUmemGenericAllocationHandle memory_ = 0;
  bool is_reserved_ = false, is_made_ = false, is_mapped_ = false;
};

/// Of memory.
struct Extent {
  std::uint64_t address = 0, bytes = 0;
};
/// The blocks in which these lie, in the order of their addresses. An Error, as one line, if two overlap, or
/// the driver does not have a block there.
Result<std::vector<std::shared_ptr<MappedBlock>>> mapped_blocks(const std::shared_ptr<Context>& context,
                                                                std::vector<Extent> memory);

}  // namespace fairgv::vgpu::cuda
