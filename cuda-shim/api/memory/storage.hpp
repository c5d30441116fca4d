// What an engine keeps of memory, of an array or of a texture object.
#pragma once

namespace fairgv::cuda {

/// Owns it: its end gives it back, when no command uses it any more.
class Storage {
 public:
  Storage() = default;
  virtual ~Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
};

}  // namespace fairgv::cuda
