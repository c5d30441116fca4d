// The commands that entry points put into streams, as operations of the scheduler
// (cuda-shim/api/scheduler.hpp).
#pragma once

#include "cuda-shim/api/scheduler.hpp"
#include "cuda-shim/softcuda/driver/schedule/scheduler.hpp"

namespace fairgv::cuda::soft {

class Engine;

/// The stream as this engine's class: entry points hand over only streams of this engine.
inline Stream& own(const std::shared_ptr<cuda::Stream>& stream) {
  return static_cast<Stream&>(*stream);
}
inline std::shared_ptr<Stream> share(const std::shared_ptr<cuda::Stream>& stream) {
  return std::static_pointer_cast<Stream>(stream);
}
inline std::shared_ptr<StreamGroup> share(const std::shared_ptr<cuda::StreamGroup>& group) {
  return std::static_pointer_cast<StreamGroup>(group);
}

class Commands final : public cuda::Scheduler {
 public:
  explicit Commands(Engine& engine) : engine_(engine) {}

  std::shared_ptr<cuda::Stream> legacy(const std::shared_ptr<cuda::StreamGroup>& group) override;
  std::shared_ptr<cuda::Stream> make_stream(const std::shared_ptr<cuda::StreamGroup>& group, StreamKind kind,
                                            unsigned flags, int priority) override;
  void dissolve(cuda::StreamGroup& group) override;
  void forget(const std::shared_ptr<cuda::Stream>& stream) override;

  std::shared_ptr<cuda::Operation> mark(const std::shared_ptr<cuda::Stream>& stream,
                                        const std::shared_ptr<cuda::Operation>& behind) override;
  CUresult run_on_host(const std::shared_ptr<cuda::Stream>& stream, std::function<void(CUresult)> function,
                       bool despite_fault) override;

  CUresult synchronize(const std::shared_ptr<cuda::Stream>& stream) override;
  CUresult synchronize(cuda::StreamGroup& group) override;
  void fail(cuda::StreamGroup& group, CUresult code) override {
    static_cast<StreamGroup&>(group).set_fault(code);
  }
  CUresult query(const std::shared_ptr<cuda::Stream>& stream) override;

  CUresult launch(const std::shared_ptr<cuda::Stream>& stream, std::shared_ptr<cuda::Function> function,
                  const LaunchShape& shape, std::vector<std::uint64_t> parameters) override;
  CUresult copy(const std::shared_ptr<cuda::Stream>& stream, const Place& to, const Place& from,
                const Extent& extent, bool async) override;
  CUresult fill(const std::shared_ptr<cuda::Stream>& stream, const Fill& fill,
                const Allocation& allocation) override;
  void free_in_order(const std::shared_ptr<cuda::Stream>& stream,
                     const std::shared_ptr<Allocation>& allocation, std::function<void()> forget) override;

  CUresult write_word(const std::shared_ptr<cuda::Stream>& stream, const Word& word,
                      std::uint64_t value) override;
  CUresult wait_for_word(const std::shared_ptr<cuda::Stream>& stream, const Word& word,
                         const WordTest& test) override;
  CUresult hold(const std::shared_ptr<cuda::Stream>& stream, const std::shared_ptr<Signal>& until) override;
  void give_up_waits(cuda::StreamGroup& group) override;

 private:
  Engine& engine_;
};

}  // namespace fairgv::cuda::soft
