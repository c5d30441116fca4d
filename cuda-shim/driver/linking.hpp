// A linking under way. Inputs are gathered here, and sent when the program asks for the result. The driver
// beneath links them.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "cuda-shim/api/code/jit_options.hpp"
#include "cuda-shim/api/code/linking.hpp"
#include "cuda-shim/driver/scheduler.hpp"
#include "runtime/wire/cuda_calls.hpp"

namespace fairgv::cuda::remote {

/// Has the worker link, and waits for it. Nothing: the call cannot be sent, or the session is lost.
std::optional<wire::cuda::LinkedReply> link_by_worker(const std::shared_ptr<StreamGroup>& group,
                                                      std::vector<wire::cuda::LinkInput> inputs,
                                                      const std::vector<JitNumber>& options);

class Linking final : public cuda::Linking {
 public:
  Linking(std::shared_ptr<StreamGroup> group, JitOptions options)
      : group_(std::move(group)), options_(std::move(options)) {}

  CUresult add(CUjitInputType type, const void* data, std::size_t size, const char* name) override;
  CUresult complete(void*& image, std::size_t& size) override;

 private:
  CUresult link();

  const std::shared_ptr<StreamGroup> group_;
  const JitOptions options_;
  std::mutex lock_;  // guards the members below
  std::vector<wire::cuda::LinkInput> inputs_;
  std::vector<std::byte> image_;  // handed out by complete()
};

}  // namespace fairgv::cuda::remote
