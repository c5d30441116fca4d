#include "runtime/vgpu/opencl/move/contents_reads.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "runtime/vgpu/backend/mapped_part.hpp"
#include "runtime/vgpu/opencl/command_kind.hpp"
#include "runtime/vgpu/opencl/commands.hpp"
#include "runtime/vgpu/opencl/move/contents.hpp"
#include "runtime/vgpu/opencl/residency/buffer_block.hpp"
#include "runtime/wire/calls/buffer_commands.hpp"

namespace fairgv::vgpu::opencl {
namespace {

/// A command moves so many bytes: about a millisecond, in which others wait for the device.
constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;
/// Of the wait for the program's commands, reads take no more than one of so many parts,
constexpr std::int64_t kPartOfWait = 10;
/// and no more than so many reads are queued.
constexpr std::int64_t kMostTogether = 64;
/// An object has no more commands than this.
constexpr std::uint64_t kMostPieces = 1024;

/// One of the worker's own, which no object of the program's depends on.
std::shared_ptr<Queue> make_own_queue(const Object& object, const Device& device) {
  auto queue = std::make_shared<Queue>();
  queue->context = object.kind() == ObjectKind::image ? static_cast<const Image&>(object).context
                                                      : static_cast<const Buffer&>(object).context;
  queue->lane = std::make_shared<Lane>(true, device.root, Clock::none);
  queue->device = device.id;
  queue->handle = make_plain_queue(queue->context->handle.get(), device.id, queue->error);
  return queue;
}

}  // namespace

std::uint64_t reads_together(sched::Duration took, std::uint64_t latest, std::optional<sched::Duration> one) {
  if (!one || one->count() <= 0) return 1;
  const auto waited = took - static_cast<std::int64_t>(latest) * *one;
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(waited / *one / kPartOfWait, 1, kMostTogether));
}

class ContentsReads::Read final : public QueueCommand {
 public:
  struct Piece {
    std::uint64_t from = 0;  // in the object
    std::uint64_t bytes = 0;
  };
  Read(std::shared_ptr<Queue> queue, std::shared_ptr<const Object> object, Piece piece, int file,
       std::uint64_t offset, std::shared_ptr<ContentsCopy> copy)
      : QueueCommand(std::move(queue), CL_SUCCESS, kind_of(piece)),
        object_(std::move(object)),
        piece_(piece),
        file_(file),
        offset_(offset),
        copy_(std::move(copy)) {}
  ~Read() override {
    if (!Node::ended() || status() != kComplete) copy_->fail();
    // No line: it was dropped, or the session ends.
    if (const auto line = line_.lock()) gone(line, *this, *loop_);
  }
  /// The next of the line is queued when this one is gone.
  void stands_in(const std::shared_ptr<Line>& line, Executor::Loop& loop) {
    line_ = line;
    loop_ = &loop;
  }

  std::uint64_t bytes() const override { return piece_.bytes; }
  void note_writes(WriteLog&) const override {}
  void blocks(std::vector<Block*>& to) const override { add_block_of(*object_, to); }
  std::string_view why_whole() const override { return "it is a transfer"; }

 private:
  static sched::CommandKind kind_of(Piece piece) {
    return opencl::kind_of(wire::EnqueueReadBuffer{{}, {}, piece.from, {0, piece.bytes}});
  }

  cl_int enqueue(cl_command_queue queue, const Waits& waits) override {
    auto to = MappedPart::map(file_, offset_, piece_.bytes);
    if (!to) return CL_OUT_OF_HOST_MEMORY;
    to_ = std::move(to).value();
    std::byte* const bytes = to_.bytes().data();
    if (object_->kind() == ObjectKind::buffer) {
      const auto& buffer = static_cast<const Buffer&>(*object_);
      return clEnqueueReadBuffer(queue, buffer.handle.get(), CL_FALSE, piece_.from, piece_.bytes, bytes,
                                 waits.count, waits.list, waits.event);
    }
    const auto& image = static_cast<const Image&>(*object_);
    const auto region = region_of(image);
    constexpr std::array<std::size_t, 3> kFirstElement{0, 0, 0};
    return clEnqueueReadImage(queue, image.handle.get(), CL_FALSE, kFirstElement.data(), region.data(), 0, 0,
                              bytes, waits.count, waits.list, waits.event);
  }

  const std::shared_ptr<const Object> object_;
  const Piece piece_;
  const int file_;
  const std::uint64_t offset_;
  const std::shared_ptr<ContentsCopy> copy_;  // keeps the file
  MappedPart to_;
  std::weak_ptr<Line> line_;
  Executor::Loop* loop_ = nullptr;
};

void ContentsReads::go_on(const std::shared_ptr<Line>& line, Executor::Loop& loop, std::uint64_t together) {
  std::vector<std::shared_ptr<Read>> next;
  for (; next.size() < together && !line->reads.empty(); line->reads.pop_front())
    next.push_back(std::move(line->reads.front()));
  line->queued = line->together = next.size();
  line->since = std::chrono::steady_clock::now();
  for (const auto& read : next) {
    read->stands_in(line, loop);
    loop.enqueue_own(read);
  }
}

void ContentsReads::gone(const std::shared_ptr<Line>& line, const Read& read, Executor::Loop& loop) {
  if (--line->queued > 0) return;
  const auto took = std::chrono::steady_clock::now() - line->since;
  const auto one = loop.estimated(read.lane()->device(), read.kind());
  go_on(line, loop, reads_together(took, line->together, one));
}

void ContentsReads::add(const std::shared_ptr<Object>& object, const Device& device, int file,
                        std::uint64_t offset, const std::shared_ptr<ContentsCopy>& copy,
                        Executor::Loop& loop) {
  const std::uint64_t bytes = contents_bytes(*object);
  const auto block = block_of(*object);
  if (const auto pin = block ? block->pin() : nullptr; block && block->is_outside()) {
    auto to = MappedPart::map(file, offset, bytes);
    if (!to) return copy->fail();
    return block->copy_to(to.value().bytes());
  }
  const auto queue = make_own_queue(*object, device);
  if (queue->error != CL_SUCCESS) return copy->fail();
  // Images are not cut: their rows lie in the file without gaps.
  const bool cut = object->kind() == ObjectKind::buffer;
  const std::uint64_t piece = cut ? std::max(kPiece, bytes / kMostPieces + 1) : bytes;
  for (std::uint64_t from = 0; from < bytes; from += piece) {
    const Read::Piece part{from, std::min(piece, bytes - from)};
    line_->reads.push_back(std::make_shared<Read>(queue, object, part, file, offset + from, copy));
  }
  if (line_->queued == 0) go_on(line_, loop, 1);
}

}  // namespace fairgv::vgpu::opencl
