// A linking under way. One PTX text, or a fatbin that holds one, comes out unchanged. There is no linker for
// several texts, and none for machine code.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <utility>

#include "cuda-shim/api/code/jit_options.hpp"
#include "cuda-shim/api/code/linking.hpp"

namespace fairgv::cuda::soft {

class Linking final : public cuda::Linking {
 public:
  /// Of the options only the program's error buffer is used.
  explicit Linking(const JitOptions& options) {
    options_.error = {options.error.buffer, options.error.size, nullptr};
  }

  CUresult add(CUjitInputType type, const void* data, std::size_t size, const char* name) override;
  CUresult complete(void*& image, std::size_t& size) override;

 private:
  CUresult check_input(CUjitInputType type, LoadLog& log) const;

  JitOptions options_;
  std::mutex lock_;  // guards the members below
  std::string ptx_;  // handed out by complete()
  bool added_ = false;
};

}  // namespace fairgv::cuda::soft
