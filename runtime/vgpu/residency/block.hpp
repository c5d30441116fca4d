// The device memory of one object, where the device's memory is lent: it may be on the device, or out, with
// its contents in the host's memory.
#pragma once

#include <cstdint>

namespace fairgv::vgpu {

/// A move of one block, as it goes on.
class BlockMove {
 public:
  /// So many bytes have been moved: waits as long as a simulated link takes. False: give up, the object is to
  /// go.
  virtual bool moved(std::uint64_t bytes) = 0;

 protected:
  ~BlockMove() = default;
};

class Block {
 public:
  explicit Block(std::uint64_t bytes) : bytes_(bytes) {}
  virtual ~Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  std::uint64_t bytes() const { return bytes_; }

  enum class Where : std::uint8_t { out, comes, in, goes };

 private:
  friend class Residency;

  /// Makes the memory on the device, with the contents that it had. 0, or the driver's error: nothing is
  /// there then. Any thread, and no other uses the object meanwhile, as for take_out().
  virtual std::int32_t bring_in(BlockMove& move) = 0;
  /// Gives the memory back to the device; its contents are kept. 0, or the driver's error: all is as before.
  virtual std::int32_t take_out(BlockMove& move) = 0;
  /// Whether take_out() need not copy anything.
  virtual bool is_kept_outside() const = 0;

  const std::uint64_t bytes_;
  // Residency's, with its lock.
  Where where_ = Where::out;
  bool gives_up_ = false;      // its move is to end at once
  std::int32_t error_ = 0;     // it could not come in, and no command has been told yet
  std::uint32_t pins_ = 0;     // it must not be moved
  bool stays_ = false;         // for good
  std::uint64_t used_ = 0;     // of all uses, the number of the last
  std::uint64_t used_in_ = 0;  // the turn of that use
  std::uint64_t wanted_ = 0;   // the plan that it is in
};

}  // namespace fairgv::vgpu
