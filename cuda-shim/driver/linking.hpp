// A linking under way (CUDA Driver API, "cuLinkCreate" and its kin): inputs are gathered here, and sent when
// the program wants the result.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda-shim/api/code/jit_options.hpp"
#include "runtime/wire/cuda_calls.hpp"

namespace fairgv::cuda {

class StreamGroup;

class Linking {
 public:
  explicit Linking(std::shared_ptr<StreamGroup> of_creation, JitOptions read)
      : group(std::move(of_creation)), options(std::move(read)) {}

  const std::shared_ptr<StreamGroup> group;
  const JitOptions options;

  std::mutex lock;  // guards what follows
  std::vector<wire::cuda::LinkInput> inputs;
  std::vector<std::byte> image;  // what cuLinkComplete hands out: it lives until cuLinkDestroy
};

}  // namespace fairgv::cuda
