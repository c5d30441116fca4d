// The state that the calls of the first CUDA releases set before a launch: a function's block, shared memory
// and parameters (CUDA Driver API, "Execution Control [DEPRECATED]").
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace fairgv::cuda {

/// Bytes that parameters may have on any device (CUDA programming guide, "Technical Specifications").
inline constexpr std::size_t kLargestParameterBlock = 32764;

class PreparedLaunch {
 public:
  struct Values {
    std::uint32_t block[3] = {};  // 0: not set
    std::uint32_t dynamic_shared = 0;
    std::vector<std::byte> parameters;
  };

  void set_block(const std::uint32_t (&block)[3]);
  void set_shared(std::uint32_t bytes);
  /// False: more than any launch may have.
  bool set_size(std::size_t bytes);
  /// Beyond the size, too: programs may set the size last. False: as above.
  bool set_parameter(std::size_t offset, const void* value, std::size_t bytes);
  /// As of now. The parameters are as many as the size says.
  Values values() const;

 private:
  mutable std::mutex lock_;  // guards the members below
  Values values_;
  std::size_t size_ = 0;
};

}  // namespace fairgv::cuda
