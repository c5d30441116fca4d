#pragma once
// The CUDA runtime API as these programs use it: errors as exceptions that name the failing call, and memory
// that frees itself. Nothing here is specific to one driver.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace workloads::cuda {

/// A failed call; what() is one line: "cudaMalloc failed: cudaErrorMemoryAllocation (2), out of memory".
class CudaError : public std::runtime_error {
 public:
  CudaError(const char* call, cudaError_t code)
      : std::runtime_error(std::string(call) + " failed: " + cudaGetErrorName(code) + " (" +
                           std::to_string(static_cast<int>(code)) + "), " + cudaGetErrorString(code)) {}
};

/// Throws CudaError naming `call` unless `code` is cudaSuccess.
inline void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) throw CudaError(call, code);
}

/// `count` elements of page-locked host memory: the device reads and writes it without the host's help.
template <typename Element>
class PinnedArray {
 public:
  explicit PinnedArray(std::size_t count) : count_(count) {
    void* memory = nullptr;
    check(cudaMallocHost(&memory, count * sizeof(Element)), "cudaMallocHost");
    elements_ = static_cast<Element*>(memory);
  }
  ~PinnedArray() { cudaFreeHost(elements_); }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;

  Element* get() const { return elements_; }
  std::size_t bytes() const { return count_ * sizeof(Element); }
  const Element* begin() const { return elements_; }
  const Element* end() const { return elements_ + count_; }

 private:
  const std::size_t count_;
  Element* elements_ = nullptr;
};

/// `count` elements on the device, with unspecified content. Commands on a stream take their turn there.
template <typename Element>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes()), "cudaMalloc");
    elements_ = static_cast<Element*>(memory);
  }
  /// Starts as a copy of `content`, of a type as large or smaller.
  template <typename Scalar>
  explicit DeviceArray(const std::vector<Scalar>& content)
      : DeviceArray(content.size() * sizeof(Scalar) / sizeof(Element)) {
    check(cudaMemcpy(elements_, content.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~DeviceArray() { cudaFree(elements_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  Element* get() const { return elements_; }
  std::size_t bytes() const { return count_ * sizeof(Element); }

  /// Every byte is `value`: 0xff makes NaN of a float.
  void fill(int value, cudaStream_t stream) {
    check(cudaMemsetAsync(elements_, value, bytes(), stream), "cudaMemsetAsync");
  }

  /// Overwrites `count` scalars from scalar `first` on, when everything on the stream has been done.
  template <typename Scalar>
  void write(std::size_t first, const Scalar* scalars, std::size_t count, cudaStream_t stream) {
    check(cudaMemcpyAsync(reinterpret_cast<Scalar*>(elements_) + first, scalars, count * sizeof(Scalar),
                          cudaMemcpyHostToDevice, stream),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  /// All elements, as scalars, when everything on the stream has been done.
  template <typename Scalar>
  std::vector<Scalar> read(cudaStream_t stream) const {
    std::vector<Scalar> content(bytes() / sizeof(Scalar));
    check(cudaMemcpyAsync(content.data(), elements_, bytes(), cudaMemcpyDeviceToHost, stream),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    return content;
  }

 private:
  const std::size_t count_;
  Element* elements_ = nullptr;
};

/// A square image on the device whose rows begin where the device likes them to (cudaMallocPitch).
class PitchedImage {
 public:
  explicit PitchedImage(std::size_t side) : side_(side) {
    void* memory = nullptr;
    check(cudaMallocPitch(&memory, &pitch_, row_bytes(), side), "cudaMallocPitch");
    pixels_ = static_cast<float*>(memory);
  }
  /// Starts as a copy of `content`, row by row without gaps.
  PitchedImage(std::size_t side, const std::vector<float>& content) : PitchedImage(side) {
    check(
        cudaMemcpy2D(pixels_, pitch_, content.data(), row_bytes(), row_bytes(), side, cudaMemcpyHostToDevice),
        "cudaMemcpy2D");
  }
  ~PitchedImage() { cudaFree(pixels_); }
  PitchedImage(const PitchedImage&) = delete;
  PitchedImage& operator=(const PitchedImage&) = delete;

  float* get() const { return pixels_; }
  /// From row to row, in elements.
  int pitch() const { return static_cast<int>(pitch_ / sizeof(float)); }

  void fill(int value, cudaStream_t stream) {
    check(cudaMemset2DAsync(pixels_, pitch_, value, row_bytes(), side_, stream), "cudaMemset2DAsync");
  }

  std::vector<float> read(cudaStream_t stream) const {
    std::vector<float> content(side_ * side_);
    check(cudaMemcpy2DAsync(content.data(), row_bytes(), pixels_, pitch_, row_bytes(), side_,
                            cudaMemcpyDeviceToHost, stream),
          "cudaMemcpy2DAsync");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    return content;
  }

 private:
  std::size_t row_bytes() const { return side_ * sizeof(float); }

  const std::size_t side_;
  std::size_t pitch_ = 0;  // in bytes
  float* pixels_ = nullptr;
};

}  // namespace workloads::cuda
