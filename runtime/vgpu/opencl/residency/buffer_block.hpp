// The memory of a buffer with the sub-buffers in it, where the device's memory is lent: while it is out, the
// driver has neither, and the contents are in the host's memory.
//
// Handles of the driver change with each move: Context::memory_made counts them, so that kernels are given
// their arguments anew.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/vgpu/opencl/objects.hpp"
#include "runtime/vgpu/residency/residency.hpp"

namespace fairgv::vgpu::opencl {

class BufferBlock final : public Block {
 public:
  /// Of a buffer without a handle, which owns this. `device`: of its context, which has no other. The
  /// residency outlives this.
  BufferBlock(Residency& residency, Buffer& buffer, cl_mem_flags flags, cl_device_id device);
  ~BufferBlock() override;

  // The loop thread's.

  /// The contents, which may be less: before anything has used the buffer. CL_SUCCESS or an error.
  cl_int put(std::span<const std::byte> contents);
  /// A command that may write it goes to the driver.
  void changes() { is_current_ = false; }

  /// A sub-buffer in it; `flags`: as clCreateSubBuffer takes them. CL_SUCCESS or the driver's error.
  cl_int add_part(Buffer& part, cl_mem_flags flags, const cl_buffer_region& region);
  void remove_part(const Buffer& part);
  /// The error of making such a sub-buffer.
  cl_int try_part(cl_mem_flags flags, const cl_buffer_region& region);

  /// It stays where it is while the pin lives: for its contents.
  std::unique_ptr<Residency::Pin> pin() { return std::make_unique<Residency::Pin>(residency_, *this); }
  /// It is on the device while the pin lives. Null, with `error` set, if it cannot be.
  std::unique_ptr<Residency::Pin> pin_in(cl_int& error);
  /// Pinned and on the device: it stays there for good.
  void stays() { residency_.fix(*this); }
  /// Pinned: its contents are in the host's memory.
  bool is_outside() const { return is_current_; }
  /// Only then: copies all of them.
  void copy_to(std::span<std::byte> to) const;

 private:
  struct Part {
    Buffer* buffer;
    cl_mem_flags flags;
    cl_buffer_region region;
  };

  std::int32_t bring_in(BlockMove& move) override;
  std::int32_t take_out(BlockMove& move) override;
  bool is_kept_outside() const override { return is_current_; }
  cl_int make();
  cl_int copy(BlockMove& move, bool comes);
  bool has_memory();

  Residency& residency_;
  Buffer& buffer_;
  const cl_mem_flags flags_;
  const cl_device_id device_;
  std::vector<Part> parts_;                // changed while it is pinned
  std::unique_ptr<std::byte[]> contents_;  // null: it never had any
  bool is_current_ = true;                 // nothing has been written since they were copied
};

/// The block of a buffer, or of the buffer that it is part of; null where it has none.
std::shared_ptr<BufferBlock> block_of(const Object& object);
/// Adds the object's, if it has one.
void add_block_of(const Object& object, std::vector<Block*>& to);
/// Keeps the object's memory on the device as long as the pins live, unless there is an error already.
void pin_memory(const Object& object, std::vector<std::unique_ptr<Residency::Pin>>& pins, cl_int& error);
/// The same of all arguments. CL_SUCCESS or an error.
cl_int pin_arguments(const ArgumentSet& arguments, std::vector<std::unique_ptr<Residency::Pin>>& pins);

}  // namespace fairgv::vgpu::opencl
