// Kernels for matrix_program_test.cpp: one product of matrices by wmma, for each shape and type.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <type_traits>

using namespace nvcuda;

// d = a * b + c; a, b and c lie as their layouts say, d in rows and once more in columns, at twice their strides.
template <int M, int N, int K, class T, class Sum, class A, class B, class Stored>
__device__ void multiply(const Stored* a, const Stored* b, const Sum* c, Sum* by_row, Sum* by_column) {
  constexpr bool kRowA = std::is_same<A, wmma::row_major>::value;
  constexpr bool kRowB = std::is_same<B, wmma::row_major>::value;
  wmma::fragment<wmma::matrix_a, M, N, K, T, A> left;
  wmma::fragment<wmma::matrix_b, M, N, K, T, B> right;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
  wmma::load_matrix_sync(left, a, kRowA ? K : M);
  wmma::load_matrix_sync(right, b, kRowB ? N : K);
  wmma::load_matrix_sync(sum, c, N, wmma::mem_row_major);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(by_row, sum, N, wmma::mem_row_major);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = sum.x[i] + sum.x[i];
  wmma::store_matrix_sync(by_column, sum, M, wmma::mem_col_major);
}

#define KERNEL(name, m, n, k, type, sum, a_layout, b_layout, stored)                                             \
  extern "C" __global__ void name(const stored* a, const stored* b, const sum* c, sum* by_row, sum* by_column) { \
    multiply<m, n, k, type, sum, wmma::a_layout, wmma::b_layout>(a, b, c, by_row, by_column);                    \
  }
KERNEL(half_16_16_16, 16, 16, 16, half, float, row_major, col_major, half)
KERNEL(half_16_16_16_columns, 16, 16, 16, half, float, col_major, row_major, half)
KERNEL(half_32_8_16, 32, 8, 16, half, float, row_major, row_major, half)
KERNEL(half_8_32_16, 8, 32, 16, half, half, col_major, col_major, half)
KERNEL(bfloat_16_16_16, 16, 16, 16, __nv_bfloat16, float, row_major, row_major, __nv_bfloat16)
KERNEL(bfloat_8_32_16, 8, 32, 16, __nv_bfloat16, float, row_major, col_major, __nv_bfloat16)
KERNEL(tf32_16_16_8, 16, 16, 8, wmma::precision::tf32, float, row_major, row_major, float)
KERNEL(double_8_8_4, 8, 8, 4, double, double, row_major, col_major, double)
KERNEL(schar_16_16_16, 16, 16, 16, signed char, int, row_major, col_major, signed char)
KERNEL(schar_32_8_16, 32, 8, 16, signed char, int, col_major, row_major, signed char)
KERNEL(uchar_8_32_16, 8, 32, 16, unsigned char, int, row_major, row_major, unsigned char)

// 8 elements of 4 bits in a word.
extern "C" __global__ void nibble_8_8_32(const unsigned* a, const unsigned* b, const int* c, int* by_row, int* by_column) {
  multiply<8, 8, 32, wmma::experimental::precision::s4, int, wmma::row_major, wmma::col_major>(a, b, c, by_row,
                                                                                               by_column);
}
extern "C" __global__ void bit_8_8_128(const unsigned* a, const unsigned* b, const int* c, int* by_row) {
  wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> sum;
  wmma::load_matrix_sync(left, a, 128);
  wmma::load_matrix_sync(right, b, 128);
  wmma::load_matrix_sync(sum, c, 8, wmma::mem_row_major);
  wmma::bmma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(by_row, sum, 8, wmma::mem_row_major);
}

// Tiles through shared memory, several warps, a loop over k.
extern "C" __global__ void tiled(const half* a, const half* b, float* d, int size) {
  __shared__ half left[2][16 * 16];
  __shared__ half right[2][16 * 16];
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const int row = static_cast<int>(blockIdx.y) * 16, column = static_cast<int>(blockIdx.x) * 32 + warp * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int k = 0; k < size; k += 16) {
    for (int i = lane; i < 256; i += 32) {
      left[warp][i] = a[(row + i / 16) * size + k + i % 16];
      right[warp][i] = b[(k + i / 16) * size + column + i % 16];
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
    wmma::load_matrix_sync(x, left[warp], 16);
    wmma::load_matrix_sync(y, right[warp], 16);
    wmma::mma_sync(sum, x, y, sum);
    __syncwarp();
  }
  wmma::store_matrix_sync(d + row * size + column, sum, static_cast<unsigned>(size), wmma::mem_row_major);
}
