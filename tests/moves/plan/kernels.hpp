// The kernels that plans launch. Each computes the same whatever the order of its work-items, and reads and
// writes nothing beyond `n` elements or an image's pixels.
#pragma once

#include <string>
#include <vector>

#include "tests/moves/plan/opencl.hpp"

namespace fairgv::moves {

enum class Parameter {
  kIn,        // global const uint*
  kOut,       // global uint*, of which each work-item writes its own element
  kCount,     // uint n: the elements of the shortest buffer, or of an image of a buffer
  kValue,     // uint
  kRounds,    // uint: how long each work-item takes
  kFloat,     // float
  kVector,    // uint4
  kRecord,    // a structure of kRecordBytes
  kLocal,     // local uint*, an element for each work-item of a group
  kImageIn,   // read_only image
  kImageOut,  // write_only image
  kSampler,
};
inline constexpr std::size_t kRecordBytes = 24;

struct KernelKind {
  std::string name;
  std::vector<Parameter> parameters;
  bool needs_local_size = false;   // its results depend on the work-groups
  bool rounds = false;             // each driver may round its results differently
  cl_mem_object_type image = 0;    // of its images
  bool normalized_pixels = false;  // CL_UNORM_INT8, else unsigned integers
};

/// Sources that make one program, and their kernels.
struct Module {
  std::vector<std::string> sources;
  std::string header_name, header;  // sources include it by the name if it is there
  std::vector<KernelKind> kernels;
  bool uses_images = false;
};

/// All modules, always in the same order.
const std::vector<Module>& modules();

}  // namespace fairgv::moves
