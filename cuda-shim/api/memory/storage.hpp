// An engine's hold on memory, on an array or on a texture object.
#pragma once

namespace fairgv::cuda {

/// Owns the memory: its destructor gives the memory back once no command uses it any more.
class Storage {
 public:
  Storage() = default;
  virtual ~Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  /// The program cannot name the object any more, though a share of it may still be held for a moment. Called
  /// once, by a thread that holds no lock and may wait.
  virtual void retire() {}
};

}  // namespace fairgv::cuda
