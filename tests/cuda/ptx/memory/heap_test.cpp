// malloc and free of kernels (programs/heap.cu): blocks are the caller's alone, are aligned, and come back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "tests/cuda/ptx/kernels.hpp"

namespace {

using fairgv::ptx_test::compiled;
using fairgv::ptx_test::generator;
using fairgv::ptx_test::Memory;
using fairgv::ptx_test::Module;
using fairgv::ptx_test::Parameters;
using fairgv::softcuda::HeapHead;
using fairgv::softcuda::TrapKind;

Module& heap() {
  static Module module(compiled("heap_sm_75"));
  return module;
}

// Whether all blocks have been given back, and have become one.
void expect_empty_heap(std::size_t bytes) {
  const HeapHead& head = heap().heap();
  EXPECT_EQ(head.lock, 0u);
  EXPECT_EQ(head.end - head.begin, bytes);
  const auto lists =
      std::count_if(std::begin(head.lists), std::end(head.lists), [](auto list) { return list != 0; });
  EXPECT_EQ(lists, 1);
  EXPECT_EQ(*reinterpret_cast<const std::uint64_t*>(head.begin), bytes);
}

TEST(PtxHeap, BlocksOfManyThreadsAreTheirOwn) {
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{24} << 10}) {
    heap().make_heap(bytes);
    Memory<int> errors(1), empty(1);
    const auto seed = static_cast<unsigned>(generator()());
    heap().launch("churn", {8, 1, 1}, {32, 1, 1},
                  Parameters().add(seed).add(200).add(errors.address()).add(empty.address()));
    EXPECT_EQ(heap().runtime().trap_kind, static_cast<std::uint32_t>(TrapKind::kNone));
    EXPECT_EQ(errors[0], 0);
    if (bytes >= 1 << 20) {
      EXPECT_EQ(empty[0], 0);
    }
    expect_empty_heap(bytes);
  }
}

TEST(PtxHeap, AHeapWithoutRoomGivesNull) {
  heap().make_heap(1 << 16);
  Memory<std::uint64_t> blocks(100);
  const auto allocate = [&](unsigned threads, std::uint64_t bytes) {
    heap().launch("allocate", {1, 1, 1}, {threads, 1, 1}, Parameters().add(bytes).add(blocks.address()));
  };
  allocate(100, 1000);
  EXPECT_EQ(std::count(blocks.begin(), blocks.end(), 0u), 100 - (1 << 16) / 1024);
  heap().launch("release", {1, 1, 1}, {100, 1, 1}, Parameters().add(blocks.address()));
  expect_empty_heap(1 << 16);
  allocate(1, (1 << 16) - 16);
  EXPECT_NE(blocks[0], 0u);
  heap().launch("release", {1, 1, 1}, {1, 1, 1}, Parameters().add(blocks.address()));
  for (const std::uint64_t bytes :
       {(std::uint64_t{1} << 16) - 15, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    allocate(1, bytes);
    EXPECT_EQ(blocks[0], 0u) << bytes;
  }
  expect_empty_heap(1 << 16);
}

TEST(PtxHeap, WhatMallocDidNotReturnCannotBeFreed) {
  heap().make_heap(1 << 16);
  Memory<std::uint64_t> blocks(1);
  const auto release = [&](std::uint64_t pointer) {
    blocks[0] = pointer;
    heap().launch("release", {1, 1, 1}, {1, 1, 1}, Parameters().add(blocks.address()));
    return heap().runtime().trap_kind;
  };
  heap().launch("allocate", {1, 1, 1}, {1, 1, 1}, Parameters().add(std::uint64_t{64}).add(blocks.address()));
  const std::uint64_t block = blocks[0];
  const auto wrong = static_cast<std::uint32_t>(TrapKind::kNotAllocated);
  EXPECT_EQ(release(block + 16), wrong);
  EXPECT_EQ(release(blocks.address()), wrong);
  EXPECT_EQ(release(block), static_cast<std::uint32_t>(TrapKind::kNone));
  EXPECT_EQ(release(block), wrong) << "a second time";
  EXPECT_EQ(release(0), static_cast<std::uint32_t>(TrapKind::kNone));
  expect_empty_heap(1 << 16);
}

TEST(PtxHeap, NewKeepsAlignments) {
  heap().make_heap(1 << 16);
  Memory<int> errors(1);
  heap().launch("aligned", {3, 1, 1}, {16, 1, 1}, Parameters().add(errors.address()));
  EXPECT_EQ(errors[0], 0);
  EXPECT_EQ(heap().runtime().trap_kind, static_cast<std::uint32_t>(TrapKind::kNone));
  expect_empty_heap(1 << 16);
}

TEST(PtxHeap, BlocksOutliveTheirKernel) {
  heap().make_heap(1 << 16);
  Memory<int> total(1);
  heap().launch("build", {1, 1, 1}, {1, 1, 1}, Parameters().add(100));
  heap().launch("sum", {1, 1, 1}, {1, 1, 1}, Parameters().add(total.address()));
  EXPECT_EQ(total[0], 99 * 100 / 2);
  expect_empty_heap(1 << 16);
}

}  // namespace
