// A linking under way (CUDA Driver API, "cuLinkCreate" and its kin): PTX, fatbins, host objects and libraries
// become one PTX text.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <utility>

#include "cuda-shim/api/code/jit_options.hpp"
#include "cuda-shim/api/code/linking.hpp"
#include "cuda-shim/softcuda/driver/code/text_linker.hpp"

namespace fairgv::cuda::soft {

class Linking final : public cuda::Linking {
 public:
  /// The program keeps the log buffers, and the array of options, until the linking ends (cuLinkCreate).
  explicit Linking(JitOptions options) : options_(std::move(options)) {}

  CUresult add(CUjitInputType type, const void* data, std::size_t size, const char* name) override;
  CUresult complete(void*& image, std::size_t& size) override;

 private:
  CUresult link(LoadLog& log);
  /// Adds to what was said before, and tells the program.
  void say(const LoadLog& log, CUresult code);

  const JitOptions options_;
  std::mutex lock_;  // guards the members below
  TextLinker linker_;
  std::size_t number_ = 0;  // of inputs, refused ones included
  LoadLog said_;
  std::string ptx_;  // handed out by complete()
};

}  // namespace fairgv::cuda::soft
