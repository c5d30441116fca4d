// A linking under way (CUDA Driver API, "cuLinkCreate" and its kin).
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

namespace fairgv::cuda {

/// cuLinkCreate to cuLinkDestroy. One PTX text goes in and comes out: there is no machine code to make of it.
class Linking {
 public:
  std::mutex lock;
  std::string name;
  std::string ptx;  // also the image that cuLinkComplete hands out: it lives until cuLinkDestroy
  bool added = false;
  char* error_log = nullptr;  // the program's buffer, named at creation
  std::size_t error_log_size = 0;
};

}  // namespace fairgv::cuda
