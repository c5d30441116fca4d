// Code that is loaded for all contexts at once (CUDA Driver API, "Library Management"). It becomes a module
// of a context at its first use there.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cuda-shim/api/code/module.hpp"
#include "cuda-shim/api/cuda.hpp"

namespace fairgv::cuda {

class Context;
class Driver;

class Library : public std::enable_shared_from_this<Library> {
 public:
  explicit Library(std::shared_ptr<Image> image) : image_(std::move(image)) {}
  CUlibrary handle() { return reinterpret_cast<CUlibrary>(this); }
  Image& image() const { return *image_; }

  /// Its instance in the context, loaded at the first call. Null: the code says why.
  std::shared_ptr<Module> module_in(Driver& driver, Context& context, CUresult& code);
  /// CUDA_ERROR_NOT_FOUND: there is no kernel of that name.
  CUresult kernel(Driver& driver, std::string_view name, CUkernel& kernel);
  void unload(Driver& driver);
  /// Drops the context's instance, which ends with the context.
  void leave(CUcontext context);

 private:
  const std::shared_ptr<Image> image_;
  std::mutex lock_;
  std::map<CUcontext, std::shared_ptr<Module>> modules_;
  std::map<std::string, CUkernel, std::less<>> kernels_;
};

/// A library's kernel, of no context (CUkernel).
struct LibraryKernel {
  std::shared_ptr<Library> library;
  std::string name;
};

/// The names of the library's kernels. Where only a module knows them, a module in the current context is
/// asked.
CUresult kernel_names(Driver& driver, Library& library, std::vector<std::string>& names);

/// The function of a CUfunction. For a CUkernel that was cast to CUfunction: the kernel's instance in the
/// context. Null: the code says why.
std::shared_ptr<Function> find_function(Driver& driver, Context& context, CUfunction handle, CUresult& code);

}  // namespace fairgv::cuda
