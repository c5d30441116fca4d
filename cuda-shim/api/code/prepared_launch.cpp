#include "cuda-shim/api/code/prepared_launch.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace fairgv::cuda {

void PreparedLaunch::set_block(const std::uint32_t (&block)[3]) {
  const std::lock_guard guard(lock_);
  std::copy(std::begin(block), std::end(block), std::begin(values_.block));
}

void PreparedLaunch::set_shared(std::uint32_t bytes) {
  const std::lock_guard guard(lock_);
  values_.dynamic_shared = bytes;
}

bool PreparedLaunch::set_size(std::size_t bytes) {
  if (bytes > kLargestParameterBlock) return false;
  const std::lock_guard guard(lock_);
  size_ = bytes;
  return true;
}

bool PreparedLaunch::set_parameter(std::size_t offset, const void* value, std::size_t bytes) {
  if (offset > kLargestParameterBlock || bytes > kLargestParameterBlock - offset) return false;
  if (bytes == 0) return true;
  const std::lock_guard guard(lock_);
  if (values_.parameters.size() < offset + bytes) values_.parameters.resize(offset + bytes);
  std::memcpy(values_.parameters.data() + offset, value, bytes);
  return true;
}

PreparedLaunch::Values PreparedLaunch::values() const {
  const std::lock_guard guard(lock_);
  Values values = values_;
  values.parameters.resize(size_);
  return values;
}

}  // namespace fairgv::cuda
