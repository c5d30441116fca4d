#include "tests/moves/plan/kernels.hpp"

namespace fairgv::moves {
namespace {

using P = Parameter;

constexpr const char* kHelpers = R"(
#pragma OPENCL FP_CONTRACT OFF
#ifndef SALT
#define SALT 1
#endif
static uint item_index(void) {
  size_t index = 0;
  for (uint d = get_work_dim(); d-- > 0;)
    index = index * get_global_size(d) + (get_global_id(d) - get_global_offset(d));
  return (uint)index;
}
static uint mixed(uint hash, uint value) { return rotate((hash ^ value) * 0x9E3779B1u + SALT, 13u); }
)";

constexpr const char* kNumbers = R"(
kernel void gather(global uint* out, global const uint* in, uint n, uint value, uint rounds) {
  const uint i = item_index();
  if (i >= n) return;
  uint hash = mixed(in[i], value);
  for (uint r = 0; r < rounds; ++r) hash = mixed(hash, in[(i + hash) % n]);
  out[i] = hash;
}
kernel void advance(global uint* data, uint n, uint value, uint rounds) {
  const uint i = item_index();
  if (i >= n) return;
  uint hash = mixed(data[i], i);
  for (uint r = 0; r < rounds; ++r) hash = mixed(hash, value + (uint)get_global_id(0));
  data[i] = hash;
}
kernel void count(global uint* bins, global const uint* in, uint n, uint value) {
  const uint i = item_index();
  if (i < n) atomic_add(&bins[mixed(in[i], value) % n], i + 1);
}
kernel void highest(global uint* bins, global const uint* in, uint n, uint value) {
  const uint i = item_index();
  if (i < n) atomic_max(&bins[in[i] % n], mixed(in[i], value));
}
kernel void scan_groups(global uint* out, global const uint* in, local uint* scratch, uint n, uint value) {
  const uint i = item_index();
  const uint size = (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
  const uint row = (uint)(get_local_id(2) * get_local_size(1) + get_local_id(1));
  const uint me = row * (uint)get_local_size(0) + (uint)get_local_id(0);
  scratch[me] = i < n ? in[i] : value;
  for (uint stride = 1; stride < size; stride *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint below = me >= stride ? scratch[me - stride] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    scratch[me] += below;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i < n) out[i] = mixed(scratch[size - 1 - me], (uint)(get_group_id(0) + 31 * get_group_id(1)));
}
)";

constexpr const char* kValues = R"(
typedef struct { uint a; ulong b; float c; } Record;
kernel void by_value(global uint* out, uint n, uint4 vector, Record record) {
  const uint i = item_index();
  if (i >= n) return;
  const uint4 v = vector * (i + 1);
  out[i] ^= mixed(v.x + v.y, v.z ^ v.w) + record.a + (uint)(record.b >> 7) + (uint)record.c;
}
kernel void smooth(global uint* out, global const uint* in, uint n, float factor) {
  const uint i = item_index();
  if (i >= n) return;
  const float left = (float)(in[i == 0 ? 0 : i - 1] & 0xffff), here = (float)(in[i] & 0xffff);
  out[i] = as_uint(fma(left, factor, here * 0.5f) + sqrt(here));
}
kernel void by_fours(global uint* out, global const uint* in, uint n, uint value) {
  const uint i = item_index();
  if (4 * i + 4 > n) return;
  const uint4 four = vload4(i, in);
  vstore4(rotate(four.wxyz * value, (uint4)(i & 31)) + four.zzxx, i, out);
}
kernel void say(global const uint* in, uint n, uint value) {
  if (item_index() == 0) printf("kernel %u says %u of %u\n", value, in[0], n);
}
)";

constexpr const char* kLibraryHeader = R"(
uint in_the_library(uint a, uint b);
)";
constexpr const char* kLibrary = R"(
static uint own(uint a) { return mixed(a, (uint)get_group_id(0)); }
uint in_the_library(uint a, uint b) { return own(a) + b * (uint)get_num_groups(0); }
kernel void from_library(global uint* out, global const uint* in, uint n, uint value) {
  const uint i = item_index();
  if (i < n) out[i] = in_the_library(in[n - 1 - i], value);
}
)";
constexpr const char* kCaller = R"(
static uint own(uint a) { return mixed(a, 77); }
kernel void from_caller(global uint* out, uint n, uint value) {
  const uint i = item_index();
  if (i < n) out[i] = own(in_the_library(out[i], value));
}
)";

struct ImageType {
  const char* name;  // of its type in OpenCL C, without "_t"
  cl_mem_object_type type;
  const char* at;  // its coordinates, of pixel `p`
  const char* pixels;
  bool sampled;
};
const std::vector<ImageType> kImageTypes = {
    {"image1d", CL_MEM_OBJECT_IMAGE1D, "(int)p", "get_image_width(image)", true},
    // PoCL 3.1 has no get_image_width() for it.
    {"image1d_buffer", CL_MEM_OBJECT_IMAGE1D_BUFFER, "(int)p", "(int)n", false},
    {"image1d_array", CL_MEM_OBJECT_IMAGE1D_ARRAY,
     "(int2)(p % get_image_width(image), p / get_image_width(image))",
     "get_image_width(image) * (int)get_image_array_size(image)", true},
    {"image2d", CL_MEM_OBJECT_IMAGE2D, "(int2)(p % get_image_width(image), p / get_image_width(image))",
     "get_image_width(image) * get_image_height(image)", true},
    {"image2d_array", CL_MEM_OBJECT_IMAGE2D_ARRAY,
     "(int4)(p % get_image_width(image), p / get_image_width(image) % get_image_height(image),"
     " p / get_image_width(image) / get_image_height(image), 0)",
     "get_image_width(image) * get_image_height(image) * (int)get_image_array_size(image)", true},
    {"image3d", CL_MEM_OBJECT_IMAGE3D,
     "(int4)(p % get_image_width(image), p / get_image_width(image) % get_image_height(image),"
     " p / get_image_width(image) / get_image_height(image), 0)",
     "get_image_width(image) * get_image_height(image) * get_image_depth(image)", true},
};

/// A kernel that reads each pixel of an image, and one that writes each.
std::string image_kernels(const ImageType& image) {
  const std::string name = image.name;
  const std::string body =
      "  const int p = (int)item_index();\n  if (p >= " + std::string(image.pixels) + ") return;\n";
  std::string text = "kernel void read_" + name + "(global uint* out, uint n, read_only " + name +
                     "_t image" + (image.sampled ? ", sampler_t sampler" : "") + ") {\n" + body +
                     "  const uint4 pixel = read_imageui(image, " + (image.sampled ? "sampler, " : "") +
                     image.at +
                     ");\n"
                     "  if (p < n) out[p] = mixed(mixed(pixel.x, pixel.y), mixed(pixel.z, pixel.w));\n}\n";
  text += "kernel void write_" + name + "(write_only " + name +
          "_t image, global const uint* in, uint n, uint value) {\n" + body +
          "  const uint v = mixed(in[p % n], p);\n" + "  write_imageui(image, " + image.at +
          ", (uint4)(v, v ^ value, v >> 3, value) & 0xff);\n}\n";
  return text;
}

constexpr const char* kNormalizedPixels = R"(
kernel void sample_image2d(global uint* out, uint n, read_only image2d_t image, sampler_t sampler,
                           float factor) {
  const int p = (int)item_index();
  if (p >= n) return;
  const float4 pixel = read_imagef(image, sampler, (float2)(p % 61 * factor, p / 61 * factor));
  out[p] = convert_uint_rte(pixel.x * 255.0f) + 256 * convert_uint_rte(pixel.y * 255.0f) +
           65536 * convert_uint_rte(pixel.w * 255.0f);
}
kernel void paint_image2d(write_only image2d_t image, global const uint* in, uint n, uint value) {
  const int p = (int)item_index();
  if (p >= get_image_width(image) * get_image_height(image)) return;
  const uint v = mixed(in[p % n], value);
  write_imagef(image, (int2)(p % get_image_width(image), p / get_image_width(image)),
               convert_float4((uint4)(v, v >> 8, v >> 16, v >> 24) & 0xff) / 255.0f);
}
)";

Module images() {
  Module module;
  module.uses_images = true;
  std::string text = kHelpers;
  for (const ImageType& image : kImageTypes) {
    text += image_kernels(image);
    KernelKind read{std::string("read_") + image.name, {P::kOut, P::kCount, P::kImageIn}};
    if (image.sampled) read.parameters.push_back(P::kSampler);
    KernelKind write{std::string("write_") + image.name, {P::kImageOut, P::kIn, P::kCount, P::kValue}};
    read.image = write.image = image.type;
    module.kernels.push_back(read);
    module.kernels.push_back(write);
  }
  KernelKind sample{"sample_image2d", {P::kOut, P::kCount, P::kImageIn, P::kSampler, P::kFloat}};
  KernelKind paint{"paint_image2d", {P::kImageOut, P::kIn, P::kCount, P::kValue}};
  sample.image = paint.image = CL_MEM_OBJECT_IMAGE2D;
  sample.normalized_pixels = paint.normalized_pixels = true;
  sample.rounds = paint.rounds = true;
  module.kernels.push_back(sample);
  module.kernels.push_back(paint);
  module.sources = {text + kNormalizedPixels};
  return module;
}

Module numbers() {
  Module module;
  module.sources = {std::string(kHelpers) + kNumbers};
  module.kernels = {{"gather", {P::kOut, P::kIn, P::kCount, P::kValue, P::kRounds}},
                    {"advance", {P::kOut, P::kCount, P::kValue, P::kRounds}},
                    {"count", {P::kOut, P::kIn, P::kCount, P::kValue}},
                    {"highest", {P::kOut, P::kIn, P::kCount, P::kValue}},
                    {"scan_groups", {P::kOut, P::kIn, P::kLocal, P::kCount, P::kValue}, true}};
  return module;
}

Module values() {
  Module module;
  module.sources = {std::string(kHelpers) + kValues};
  module.kernels = {{"by_value", {P::kOut, P::kCount, P::kVector, P::kRecord}},
                    {"smooth", {P::kOut, P::kIn, P::kCount, P::kFloat}, false, true},
                    {"by_fours", {P::kOut, P::kIn, P::kCount, P::kValue}},
                    {"say", {P::kIn, P::kCount, P::kValue}}};
  return module;
}

Module library() {
  Module module;
  module.header_name = "library.h";
  module.header = std::string(kHelpers) + kLibraryHeader;
  module.sources = {std::string("#include \"library.h\"\n") + kLibrary,
                    std::string("#include \"library.h\"\n") + kCaller};
  module.kernels = {{"from_library", {P::kOut, P::kIn, P::kCount, P::kValue}, true},
                    {"from_caller", {P::kOut, P::kCount, P::kValue}, true}};
  return module;
}

}  // namespace

const std::vector<Module>& modules() {
  static const std::vector<Module> all = {numbers(), values(), library(), images()};
  return all;
}

}  // namespace fairgv::moves
