// A linking under way: cuLinkCreate to cuLinkDestroy (CUDA Driver API, "cuLinkCreate" and its kin).
#pragma once

#include <cstddef>

#include "cuda-shim/api/cuda.hpp"

namespace fairgv::cuda {

/// Any thread may call.
class Linking {
 public:
  Linking() = default;
  virtual ~Linking() = default;
  Linking(const Linking&) = delete;
  Linking& operator=(const Linking&) = delete;

  /// `data` is not null and `size` not 0. `name`: the input's name in messages, or null.
  virtual CUresult add(CUjitInputType type, const void* data, std::size_t size, const char* name) = 0;
  /// The image lives as long as this linking. CUDA_ERROR_INVALID_VALUE: nothing was added.
  virtual CUresult complete(void*& image, std::size_t& size) = 0;
};

}  // namespace fairgv::cuda
