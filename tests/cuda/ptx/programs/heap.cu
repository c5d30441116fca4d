// Kernels for heap_test.cpp: malloc, free, new and delete.

// Each thread allocates, fills and checks blocks of sizes that a generator gives, in an order that it gives.
extern "C" __global__ void churn(unsigned seed, int rounds, int* errors, int* empty) {
  constexpr int kSlots = 6;
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = seed + me * 2654435761u;
  unsigned char* blocks[kSlots] = {};
  unsigned sizes[kSlots] = {};
  for (int round = 0; round < rounds; ++round) {
    state = state * 1664525u + 1013904223u;
    const unsigned slot = (state >> 16) % kSlots;
    if (blocks[slot] == nullptr) {
      sizes[slot] = (state >> 8) % 300;
      blocks[slot] = static_cast<unsigned char*>(malloc(sizes[slot]));
      if (blocks[slot] == nullptr) {
        atomicAdd(empty, 1);
        continue;
      }
      if (reinterpret_cast<unsigned long long>(blocks[slot]) % 16 != 0) atomicAdd(errors, 1);
      for (unsigned i = 0; i < sizes[slot]; ++i) blocks[slot][i] = static_cast<unsigned char>(me + slot + i);
    } else {
      for (unsigned i = 0; i < sizes[slot]; ++i) {
        if (blocks[slot][i] != static_cast<unsigned char>(me + slot + i)) atomicAdd(errors, 1);
      }
      free(blocks[slot]);
      blocks[slot] = nullptr;
    }
  }
  for (unsigned slot = 0; slot < kSlots; ++slot) free(blocks[slot]);
}

extern "C" __global__ void allocate(unsigned long long bytes, void** to) { to[threadIdx.x] = malloc(bytes); }
extern "C" __global__ void release(void** from) { free(from[threadIdx.x]); }

struct alignas(128) Wide {
  int values[40];
};
extern "C" __global__ void aligned(int* errors) {
  Wide* const wide = new Wide[3];
  if (reinterpret_cast<unsigned long long>(wide) % 128 != 0) atomicAdd(errors, 1);
  for (int i = 0; i < 40; ++i) wide[2].values[i] = i;
  if (wide[2].values[39] != 39) atomicAdd(errors, 1);
  delete[] wide;
}

// A list whose nodes come from one kernel and go with another.
struct Node {
  int value;
  Node* next;
};
__device__ Node* first = nullptr;
extern "C" __global__ void build(int count) {
  for (int i = 0; i < count; ++i) first = new Node{i, first};
}
extern "C" __global__ void sum(int* total) {
  while (first != nullptr) {
    Node* const next = first->next;
    *total += first->value;
    delete first;
    first = next;
  }
}
