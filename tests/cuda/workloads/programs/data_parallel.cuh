// Programs of the kind of NVIDIA's samples: one kernel each over plain arrays.
#ifndef FAIRGV_TESTS_CUDA_WORKLOADS_PROGRAMS_DATA_PARALLEL_CUH
#define FAIRGV_TESTS_CUDA_WORKLOADS_PROGRAMS_DATA_PARALLEL_CUH

#include <vector>

#include "tests/cuda/cudart/programs/check.hpp"

template <typename Element>
std::size_t bytes_of(const std::vector<Element>& values) {
  return values.size() * sizeof(Element);
}

template <typename Element>
Element* upload(const std::vector<Element>& values) {
  Element* device = nullptr;
  OK(cudaMalloc(&device, bytes_of(values)));
  OK(cudaMemcpy(device, values.data(), bytes_of(values), cudaMemcpyHostToDevice));
  return device;
}

template <typename Element>
std::vector<Element> download(const Element* device, std::size_t count) {
  std::vector<Element> values(count);
  OK(cudaMemcpy(values.data(), device, bytes_of(values), cudaMemcpyDeviceToHost));
  return values;
}

/// Words that look random and are the same in every run.
inline std::vector<int> scattered(int count, int below) {
  std::vector<int> values(static_cast<std::size_t>(count));
  unsigned state = 12345;
  for (int& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<int>((state >> 8U) % static_cast<unsigned>(below));
  }
  return values;
}

__global__ void add_vectors(float* sum, const float* left, const float* right, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) sum[i] = left[i] + right[i];
}

inline void vector_add() {
  constexpr int kCount = 50'000;  // not a multiple of the block
  std::vector<float> left, right;
  for (int i = 0; i < kCount; ++i) {
    left.push_back(static_cast<float>(i));
    right.push_back(0.5F * static_cast<float>(i % 100));
  }
  float* const a = upload(left);
  float* const b = upload(right);
  float* sum = nullptr;
  OK(cudaMalloc(&sum, bytes_of(left)));
  add_vectors<<<(kCount + 255) / 256, 256>>>(sum, a, b, kCount);
  OK(cudaGetLastError());
  const std::vector<float> got = download(sum, kCount);
  for (std::size_t i = 0; i < kCount; ++i) CHECK(got[i] == left[i] + right[i]);
  for (float* each : {a, b, sum}) OK(cudaFree(each));
}

/// Sums of blocks: in shared memory down to a warp, then by shuffles.
__global__ void reduce_blocks(int* sums, const int* values, int count) {
  extern __shared__ int partial[];
  int sum = 0;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * blockDim.x)) {
    sum += values[i];
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned width = blockDim.x / 2; width >= 32; width /= 2) {
    if (threadIdx.x < width) partial[threadIdx.x] += partial[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x < 32) {
    int rest = partial[threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) rest += __shfl_down_sync(~0U, rest, distance);
    if (threadIdx.x == 0) sums[blockIdx.x] = rest;
  }
}

inline void reduction() {
  constexpr int kCount = 100'003;
  constexpr int kBlocks = 8;
  constexpr int kThreads = 128;
  const std::vector<int> values = scattered(kCount, 1'000);
  int expected = 0;
  for (int value : values) expected += value;
  int* const input = upload(values);
  int* sums = nullptr;
  OK(cudaMalloc(&sums, kBlocks * sizeof(int)));
  reduce_blocks<<<kBlocks, kThreads, kThreads * sizeof(int)>>>(sums, input, kCount);
  OK(cudaGetLastError());
  int total = 0;
  for (int sum : download(sums, kBlocks)) total += sum;
  CHECK(total == expected);
  OK(cudaFree(input));
  OK(cudaFree(sums));
}

constexpr int kTransposeTile = 32;
constexpr int kTransposeRows = 8;

/// By tiles of shared memory whose rows are one longer, so that columns lie in different banks.
__global__ void transpose_tiles(float* output, const float* input, int width, int height) {
  __shared__ float tile[kTransposeTile][kTransposeTile + 1];
  const int x = static_cast<int>(blockIdx.x * kTransposeTile + threadIdx.x);
  for (int row = static_cast<int>(threadIdx.y); row < kTransposeTile; row += kTransposeRows) {
    const int y = static_cast<int>(blockIdx.y) * kTransposeTile + row;
    if (x < width && y < height) tile[row][threadIdx.x] = input[y * width + x];
  }
  __syncthreads();
  const int column = static_cast<int>(blockIdx.y * kTransposeTile + threadIdx.x);
  for (int row = static_cast<int>(threadIdx.y); row < kTransposeTile; row += kTransposeRows) {
    const int y = static_cast<int>(blockIdx.x) * kTransposeTile + row;
    if (column < height && y < width) output[y * height + column] = tile[threadIdx.x][row];
  }
}

inline void transpose() {
  constexpr int kWidth = 150;
  constexpr int kHeight = 70;
  std::vector<float> image;
  for (int i = 0; i < kWidth * kHeight; ++i) image.push_back(static_cast<float>(i));
  float* const input = upload(image);
  float* output = nullptr;
  OK(cudaMalloc(&output, bytes_of(image)));
  const dim3 blocks((kWidth + kTransposeTile - 1) / kTransposeTile,
                    (kHeight + kTransposeTile - 1) / kTransposeTile);
  transpose_tiles<<<blocks, dim3(kTransposeTile, kTransposeRows)>>>(output, input, kWidth, kHeight);
  OK(cudaGetLastError());
  const std::vector<float> got = download(output, image.size());
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      CHECK(got[static_cast<std::size_t>(x * kHeight + y)] ==
            image[static_cast<std::size_t>(y * kWidth + x)]);
    }
  }
  OK(cudaFree(input));
  OK(cudaFree(output));
}

#endif  // FAIRGV_TESTS_CUDA_WORKLOADS_PROGRAMS_DATA_PARALLEL_CUH
