// The software driver's scheduler of streams, without a device.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "cuda-shim/softcuda/driver/schedule/scheduler.hpp"

using fairgv::cuda::StreamKind;
using fairgv::cuda::soft::Operation;
using fairgv::cuda::soft::Scheduler;
using fairgv::cuda::soft::Stream;
using fairgv::cuda::soft::StreamGroup;

class SoftCudaScheduler : public testing::Test {
 protected:
  SoftCudaScheduler() { EXPECT_EQ(CUDA_SUCCESS, scheduler_->start()); }
  ~SoftCudaScheduler() override {
    scheduler_->synchronize(*group_);
    scheduler_->dissolve(*group_);
    scheduler_->shutdown(std::chrono::seconds(10));
  }
  std::shared_ptr<Stream> make(StreamKind kind) { return scheduler_->make_stream(group_, kind, 0, 0); }

  const std::unique_ptr<Scheduler> scheduler_ = std::make_unique<Scheduler>();
  const std::shared_ptr<StreamGroup> group_ = scheduler_->make_group(nullptr);
};
