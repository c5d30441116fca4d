// Programs of the kind of Rodinia's: many dependent launches, with the host in the loop or not.
#ifndef FAIRGV_TESTS_CUDA_WORKLOADS_PROGRAMS_STEP_BY_STEP_CUH
#define FAIRGV_TESTS_CUDA_WORKLOADS_PROGRAMS_STEP_BY_STEP_CUH

#include <algorithm>
#include <queue>
#include <vector>

#include "tests/cuda/workloads/programs/data_parallel.cuh"

/// One level of a breadth-first search: who was reached in the last level reaches his neighbours.
__global__ void search_level(int* distance, bool* reached_any, const int* first_edge, const int* to,
                             int nodes, int level) {
  const int node = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (node >= nodes || distance[node] != level) return;
  for (int edge = first_edge[node]; edge < first_edge[node + 1]; ++edge) {
    if (distance[to[edge]] >= 0) continue;
    distance[to[edge]] = level + 1;  // several may write it, all the same
    *reached_any = true;
  }
}

inline std::vector<int> distances_on_host(const std::vector<int>& first_edge, const std::vector<int>& to) {
  std::vector<int> distance(first_edge.size() - 1, -1);
  std::queue<int> next;
  distance[0] = 0;
  next.push(0);
  for (; !next.empty(); next.pop()) {
    const auto node = static_cast<std::size_t>(next.front());
    for (int edge = first_edge[node]; edge < first_edge[node + 1]; ++edge) {
      const int target = to[static_cast<std::size_t>(edge)];
      if (distance[static_cast<std::size_t>(target)] >= 0) continue;
      distance[static_cast<std::size_t>(target)] = distance[node] + 1;
      next.push(target);
    }
  }
  return distance;
}

inline void bfs() {
  constexpr int kNodes = 3'000;
  constexpr int kDegree = 2;
  const std::vector<int> to = scattered(kNodes * kDegree, kNodes);
  std::vector<int> first_edge;
  for (int node = 0; node <= kNodes; ++node) first_edge.push_back(node * kDegree);
  std::vector<int> distance(kNodes, -1);
  distance[0] = 0;
  int* const on_device = upload(distance);
  int* const edges = upload(first_edge);
  int* const targets = upload(to);
  bool* any = nullptr;
  OK(cudaMalloc(&any, sizeof(bool)));
  bool goes_on = true;
  for (int level = 0; goes_on; ++level) {
    OK(cudaMemset(any, 0, sizeof(bool)));
    search_level<<<(kNodes + 127) / 128, 128>>>(on_device, any, edges, targets, kNodes, level);
    OK(cudaMemcpy(&goes_on, any, sizeof goes_on, cudaMemcpyDeviceToHost));
  }
  CHECK(download(on_device, kNodes) == distances_on_host(first_edge, to));
  for (void* each : {static_cast<void*>(on_device), static_cast<void*>(edges), static_cast<void*>(targets),
                     static_cast<void*>(any)}) {
    OK(cudaFree(each));
  }
}

constexpr int kGap = -2;

__host__ __device__ inline int aligned(int match, int left, int above) {
  const int gapped = (left > above ? left : above) + kGap;
  return match > gapped ? match : gapped;
}

/// The cells of one anti-diagonal of the table of an alignment (Needleman and Wunsch).
__global__ void align_diagonal(int* table, const int* one, const int* other, int side, int diagonal) {
  const int row = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) + 1;
  const int column = diagonal - row;
  if (row > side || column < 1 || column > side) return;
  const int pitch = side + 1;
  const int here = row * pitch + column;
  const int similar = one[row - 1] == other[column - 1] ? 1 : -1;
  table[here] = aligned(table[here - pitch - 1] + similar, table[here - 1], table[here - pitch]);
}

inline void nw() {
  constexpr int kSide = 96;
  constexpr int kPitch = kSide + 1;
  std::vector<int> words = scattered(2 * kSide, 4);
  const std::vector<int> one(words.begin(), words.begin() + kSide);
  const std::vector<int> other(words.begin() + kSide, words.end());
  std::vector<int> table(kPitch * kPitch, 0);
  for (int i = 0; i <= kSide; ++i) {
    table[static_cast<std::size_t>(i)] = i * kGap;
    table[static_cast<std::size_t>(i * kPitch)] = i * kGap;
  }
  int* const on_device = upload(table);
  int* const first = upload(one);
  int* const second = upload(other);
  for (int diagonal = 2; diagonal <= 2 * kSide; ++diagonal) {
    align_diagonal<<<(kSide + 63) / 64, 64>>>(on_device, first, second, kSide, diagonal);
  }
  OK(cudaGetLastError());
  for (std::size_t row = 1; row <= kSide; ++row) {
    for (std::size_t column = 1; column <= kSide; ++column) {
      const std::size_t here = row * kPitch + column;
      const int similar = one[row - 1] == other[column - 1] ? 1 : -1;
      table[here] = aligned(table[here - kPitch - 1] + similar, table[here - 1], table[here - kPitch]);
    }
  }
  CHECK(download(on_device, table.size()) == table);
  for (int* each : {on_device, first, second}) OK(cudaFree(each));
}

__host__ __device__ inline int least(int a, int b, int c) {
  const int two = a < b ? a : b;
  return two < c ? two : c;
}

/// The cheapest way to each cell of a row from the row before, where one may keep or change by one column.
__global__ void step_down(int* after, const int* before, const int* costs, int columns) {
  extern __shared__ int row[];
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int x = static_cast<int>(threadIdx.x) + 1;
  const auto at = [=](int c) { return before[c < 0 ? 0 : c < columns ? c : columns - 1]; };
  row[x] = at(column);
  if (threadIdx.x == 0) row[0] = at(column - 1);
  if (threadIdx.x == blockDim.x - 1) row[x + 1] = at(column + 1);
  __syncthreads();
  if (column < columns) after[column] = costs[column] + least(row[x - 1], row[x], row[x + 1]);
}

inline void pathfinder() {
  constexpr int kColumns = 1'000;
  constexpr int kRows = 40;
  constexpr int kThreads = 128;
  const std::vector<int> costs = scattered(kColumns * kRows, 10);
  std::vector<int> best(costs.begin(), costs.begin() + kColumns);
  int* const wall = upload(costs);
  int* before = upload(best);
  int* after = upload(best);
  for (int row = 1; row < kRows; ++row) {
    step_down<<<(kColumns + kThreads - 1) / kThreads, kThreads, (kThreads + 2) * sizeof(int)>>>(
        after, before, wall + row * kColumns, kColumns);
    std::swap(before, after);
    std::vector<int> next(kColumns);
    for (int column = 0; column < kColumns; ++column) {
      const auto at = [&](int c) { return best[static_cast<std::size_t>(std::clamp(c, 0, kColumns - 1))]; };
      next[static_cast<std::size_t>(column)] = costs[static_cast<std::size_t>(row * kColumns + column)] +
                                               least(at(column - 1), at(column), at(column + 1));
    }
    best = next;
  }
  OK(cudaGetLastError());
  CHECK(download(before, kColumns) == best);
  for (int* each : {wall, before, after}) OK(cudaFree(each));
}

#endif  // FAIRGV_TESTS_CUDA_WORKLOADS_PROGRAMS_STEP_BY_STEP_CUH
