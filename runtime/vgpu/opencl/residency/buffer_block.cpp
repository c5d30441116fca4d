#include "runtime/vgpu/opencl/residency/buffer_block.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "runtime/vgpu/opencl/move/contents.hpp"

namespace fairgv::vgpu::opencl {
namespace {

/// Between two pieces a move can be given up, and a simulated link is waited for.
constexpr std::uint64_t kMovedPiece = std::uint64_t{8} << 20;

}  // namespace

BufferBlock::BufferBlock(Residency& residency, Buffer& buffer, cl_mem_flags flags, cl_device_id device)
    : Block(buffer.bytes), residency_(residency), buffer_(buffer), flags_(flags), device_(device) {
  residency_.add(*this);
}

BufferBlock::~BufferBlock() {
  residency_.remove(*this);
}

bool BufferBlock::has_memory() {
  // Not zeroed: what the program has not written is not defined.
  if (!contents_) contents_.reset(new (std::nothrow) std::byte[buffer_.bytes]);
  return contents_ != nullptr;
}

cl_int BufferBlock::put(std::span<const std::byte> contents) {
  if (!has_memory()) return CL_OUT_OF_HOST_MEMORY;
  std::memcpy(contents_.get(), contents.data(), std::min<std::size_t>(contents.size(), buffer_.bytes));
  is_current_ = true;
  return CL_SUCCESS;
}

void BufferBlock::copy_to(std::span<std::byte> to) const {
  if (contents_) {
    std::memcpy(to.data(), contents_.get(), std::min<std::size_t>(to.size(), buffer_.bytes));
  } else {
    std::fill(to.begin(), to.end(), std::byte{});
  }
}

// ---- sub-buffers

cl_int BufferBlock::add_part(Buffer& part, cl_mem_flags flags, const cl_buffer_region& region) {
  const auto pinned = pin();
  cl_int error = CL_SUCCESS;
  if (buffer_.handle) {
    part.handle = MemoryHandle(
        clCreateSubBuffer(buffer_.handle.get(), flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
  }
  if (error == CL_SUCCESS) parts_.push_back({&part, flags, region});
  return error;
}

void BufferBlock::remove_part(const Buffer& part) {
  const auto pinned = pin();
  std::erase_if(parts_, [&part](const Part& each) { return each.buffer == &part; });
}

cl_int BufferBlock::try_part(cl_mem_flags flags, const cl_buffer_region& region) {
  const auto pinned = pin();
  cl_int error = CL_SUCCESS;
  // Drivers take no memory for a buffer before it is used.
  MemoryHandle like_it;
  if (!buffer_.handle)
    like_it =
        MemoryHandle(clCreateBuffer(buffer_.context->handle.get(), flags_, buffer_.bytes, nullptr, &error));
  if (error != CL_SUCCESS) return error;
  const MemoryHandle part(clCreateSubBuffer(buffer_.handle ? buffer_.handle.get() : like_it.get(), flags,
                                            CL_BUFFER_CREATE_TYPE_REGION, &region, &error));
  return error;
}

std::unique_ptr<Residency::Pin> BufferBlock::pin_in(cl_int& error) {
  auto pinned = pin();
  error = residency_.bring_in_now(*this);
  if (error != CL_SUCCESS) pinned.reset();
  return pinned;
}

// ---- moves

cl_int BufferBlock::make() {
  cl_int error = CL_SUCCESS;
  buffer_.handle =
      MemoryHandle(clCreateBuffer(buffer_.context->handle.get(), flags_, buffer_.bytes, nullptr, &error));
  for (const Part& part : parts_) {
    if (error != CL_SUCCESS) break;
    part.buffer->handle = MemoryHandle(clCreateSubBuffer(buffer_.handle.get(), part.flags,
                                                         CL_BUFFER_CREATE_TYPE_REGION, &part.region, &error));
  }
  // Relaxed: ordered by the lock of the residency, which a command takes before it is issued.
  buffer_.context->memory_made.fetch_add(1, std::memory_order_relaxed);
  return error;
}

cl_int BufferBlock::copy(BlockMove& move, bool comes) {
  cl_int error = CL_SUCCESS;
  const QueueHandle queue = make_plain_queue(buffer_.context->handle.get(), device_, error);
  for (std::uint64_t at = 0; at < buffer_.bytes && error == CL_SUCCESS; at += kMovedPiece) {
    const std::uint64_t bytes = std::min(kMovedPiece, buffer_.bytes - at);
    std::byte* const host = contents_.get() + at;
    error = comes ? clEnqueueWriteBuffer(queue.get(), buffer_.handle.get(), CL_TRUE, at, bytes, host, 0,
                                         nullptr, nullptr)
                  : clEnqueueReadBuffer(queue.get(), buffer_.handle.get(), CL_TRUE, at, bytes, host, 0,
                                        nullptr, nullptr);
    if (error == CL_SUCCESS && !move.moved(bytes)) error = CL_OUT_OF_RESOURCES;
  }
  return error;
}

std::int32_t BufferBlock::bring_in(BlockMove& move) {
  cl_int error = make();
  if (error == CL_SUCCESS && contents_) error = copy(move, true);
  if (error != CL_SUCCESS) {
    for (const Part& part : parts_) part.buffer->handle.reset();
    buffer_.handle.reset();
  }
  // Drivers have names of their own for this, as late as it comes.
  return error == CL_SUCCESS ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

std::int32_t BufferBlock::take_out(BlockMove& move) {
  if (!is_current_) {
    if (!has_memory()) return CL_OUT_OF_HOST_MEMORY;
    if (const cl_int error = copy(move, false); error != CL_SUCCESS) return error;
    is_current_ = true;
  }
  for (const Part& part : parts_) part.buffer->handle.reset();
  buffer_.handle.reset();
  return CL_SUCCESS;
}

// ---- objects

Buffer::~Buffer() {
  block.reset();
  if (is_part && parent->block) parent->block->remove_part(*this);
  handle = {};
  const bool is_headroom = charge.release();
  if (when_gone) when_gone(is_headroom);
}

std::shared_ptr<BufferBlock> block_of(const Object& object) {
  if (object.kind() != ObjectKind::buffer) return nullptr;
  const auto& buffer = static_cast<const Buffer&>(object);
  return buffer.parent ? buffer.parent->block : buffer.block;
}

void add_block_of(const Object& object, std::vector<Block*>& to) {
  if (const auto block = block_of(object)) to.push_back(block.get());
}

void pin_memory(const Object& object, std::vector<std::unique_ptr<Residency::Pin>>& pins, cl_int& error) {
  const auto block = block_of(object);
  if (!block || error != CL_SUCCESS) return;
  if (auto pin = block->pin_in(error)) pins.push_back(std::move(pin));
}

cl_int pin_arguments(const ArgumentSet& arguments, std::vector<std::unique_ptr<Residency::Pin>>& pins) {
  cl_int error = CL_SUCCESS;
  for (const auto& argument : arguments.arguments) {
    if (argument && argument->object) pin_memory(*argument->object, pins, error);
  }
  return error;
}

}  // namespace fairgv::vgpu::opencl
