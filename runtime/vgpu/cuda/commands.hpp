// CUDA commands as the executor sees them.
//
// Each is given to the driver's stream of its own stream; where it waits for a command of another stream that
// is under way, the driver's streams wait for each other, too.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/vgpu/cuda/late_errors.hpp"
#include "runtime/vgpu/cuda/objects.hpp"
#include "runtime/vgpu/graph/device_command.hpp"
#include "runtime/vgpu/issue/made_code.hpp"
#include "runtime/wire/calls/cuda/memory.hpp"
#include "runtime/wire/calls/cuda/modules.hpp"

namespace fairgv::vgpu::cuda {

/// The common part of all commands of a stream.
class StreamCommand : public DeviceCommand {
 public:
  /// `late` outlives it.
  StreamCommand(std::shared_ptr<Stream> stream, sched::CommandKind kind, LateErrors& late);

  std::int32_t compile(CompletionSink& sink) final;
  std::int32_t issue() final;
  void watch(CompletionSink& sink) final;
  void flush() final {}  // drivers begin by themselves
  const CommandTimes* times() const final { return nullptr; }
  sched::CommandKind kind() const final { return kind_; }

  Stream& stream() const { return *stream_; }

 protected:
  const Functions& driver() const { return stream_->context->driver; }

 private:
  /// Hands it to the driver's stream, in whose context the calling thread is.
  virtual CUresult send(CUstream stream) = 0;
  /// It has gone to the driver to be compiled.
  virtual void has_code() {}
  CUresult wait_for_others();
  static void CUDA_CB ended(CUstream, CUresult code, void* command);
  /// The status with which a command ends for which the driver reports `code`.
  std::int32_t status(CUresult code);

  const std::shared_ptr<Stream> stream_;
  const sched::CommandKind kind_;
  LateErrors& late_;
  CompletionSink* sink_ = nullptr;
  void* held_ = nullptr;  // by the driver, until issue()
};

/// A copy or a fill: `send(const Functions&, CUstream)` calls the driver's function. `keeps`: the objects
/// that it uses.
template <class Send>
class Transfer final : public StreamCommand {
 public:
  Transfer(std::shared_ptr<Stream> stream, sched::CommandKind kind, std::uint64_t bytes, LateErrors& late,
           Send send, std::vector<std::shared_ptr<const Object>> keeps)
      : StreamCommand(std::move(stream), kind, late),
        bytes_(bytes),
        send_(std::move(send)),
        keeps_(std::move(keeps)) {}

  std::uint64_t bytes() const override { return bytes_; }

 private:
  CUresult send(CUstream stream) override { return send_(driver(), stream); }

  const std::uint64_t bytes_;
  Send send_;
  std::vector<std::shared_ptr<const Object>> keeps_;
};

class Launch final : public StreamCommand, public SliceableLaunch {
 public:
  /// Its parameters are as many bytes as the function takes.
  Launch(std::shared_ptr<Stream> stream, std::shared_ptr<Function> function, const wire::cuda::Launch& call,
         LateErrors& late);

  static sched::CommandKind kind_of(const Function& function, const wire::cuda::Launch& call);

  bool is_launch() const override { return true; }
  bool compiles_late(bool in_parts) const override { return code_ != nullptr && !code_->is_made(in_parts); }
  slicing::Extent groups() const override { return grid_.groups(); }
  std::string_view name() const override { return function_->name; }
  std::string_view why_whole() const override;
  SliceableLaunch* sliceable() override { return is_sliceable_ ? this : nullptr; }

  const slicing::Launch& grid() const override { return grid_; }
  Readiness readiness() const override { return is_refused_ ? Readiness::impossible : Readiness::ready; }
  void prepare() override {}  // its module was made so
  void take(const slicing::Box& part) override { part_ = part; }
  void give_up() override {
    part_.reset();
    is_refused_ = true;
  }

 private:
  CUresult send(CUstream stream) override;
  void has_code() override { code_->set_made(part_.has_value()); }

  const std::shared_ptr<Function> function_;
  std::vector<std::byte> parameters_;  // the application's
  wire::cuda::Grid block_, cluster_;
  std::uint32_t shared_bytes_;
  bool is_cooperative_;
  slicing::Launch grid_;
  bool is_sliceable_;
  bool is_refused_ = false;  // with the executor's lock
  std::optional<slicing::Box> part_;
  MadeCode* const code_;  // the function's; null: the driver makes it before
};

}  // namespace fairgv::vgpu::cuda
