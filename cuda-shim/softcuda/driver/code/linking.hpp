// A linking under way: one PTX text, or a fatbin that holds one, comes out as it went in. There is no linker
// for several, and none for machine code.
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
  /// Of the options, only the program's buffer for errors is of use: it is named at creation.
  explicit Linking(const JitOptions& options) {
    options_.error = {options.error.buffer, options.error.size, nullptr};
  }

  CUresult add(CUjitInputType type, const void* data, std::size_t size, const char* name) override;
  CUresult complete(void*& image, std::size_t& size) override;

 private:
  CUresult check_input(CUjitInputType type, LoadLog& log) const;

  JitOptions options_;
  std::mutex lock_;  // guards what follows
  std::string ptx_;  // also what complete() hands out
  bool added_ = false;
};

}  // namespace fairgv::cuda::soft
