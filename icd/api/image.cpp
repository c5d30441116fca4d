// Entry points: making images and asking about them.
#include <cstring>

#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"
#include "icd/memory/image.hpp"
#include "icd/objects/properties.hpp"

namespace fairgv::icd {
namespace {

Outcome<cl_mem> create_image(cl_context context, ImageRequest request) {
  Context* const owner = downcast<Context>(context);
  if (owner == nullptr) return CL_INVALID_CONTEXT;
  return make_image(*owner, std::move(request));
}

/// OpenCL 1.0 and 1.1 have one error for every wrong size and no error for descriptions.
Outcome<cl_mem> create_old_image(cl_context context, ImageRequest request) {
  Outcome<cl_mem> outcome = create_image(context, std::move(request));
  if (outcome.error == CL_INVALID_IMAGE_DESCRIPTOR) outcome.error = CL_INVALID_IMAGE_SIZE;
  return outcome;
}

cl_int image_info(const Memory& memory, cl_image_info param, InfoSink sink) {
  const ImageShape& image = *memory.image();
  switch (param) {
    case CL_IMAGE_FORMAT:
      return sink.scalar(image.format);
    case CL_IMAGE_ELEMENT_SIZE:
      return sink.scalar(size_t{image.element_bytes});
    case CL_IMAGE_ROW_PITCH:
      return sink.scalar(size_t{image.row_pitch});
    case CL_IMAGE_SLICE_PITCH:
      return sink.scalar(size_t{image.slice_pitch});
    case CL_IMAGE_WIDTH:
      return sink.scalar(size_t{image.width});
    case CL_IMAGE_HEIGHT:
      return sink.scalar(size_t{image.height});
    case CL_IMAGE_DEPTH:
      return sink.scalar(size_t{image.depth});
    case CL_IMAGE_ARRAY_SIZE:
      return sink.scalar(size_t{image.array_size});
    case CL_IMAGE_BUFFER:
      return sink.scalar(memory.parent() != nullptr ? memory.parent()->handle() : nullptr);
    case CL_IMAGE_NUM_MIP_LEVELS:
    case CL_IMAGE_NUM_SAMPLES:
      return sink.scalar(cl_uint{0});
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace

cl_mem clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format* image_format,
                     const cl_image_desc* image_desc, void* host_ptr, cl_int* errcode_ret) {
  return create_entry<cl_mem>(errcode_ret, [&] {
    return create_image(context, {{}, flags, image_format, image_desc, host_ptr});
  });
}

cl_mem clCreateImageWithProperties(cl_context context, const cl_mem_properties* properties,
                                   cl_mem_flags flags, const cl_image_format* image_format,
                                   const cl_image_desc* image_desc, void* host_ptr, cl_int* errcode_ret) {
  return create_entry<cl_mem>(errcode_ret, [&]() -> Outcome<cl_mem> {
    if (downcast<Context>(context) == nullptr) return CL_INVALID_CONTEXT;
    std::vector<cl_mem_properties> list;
    if (const cl_int error = read_no_properties(properties, list)) return error;
    return create_image(context, {std::move(list), flags, image_format, image_desc, host_ptr});
  });
}

cl_mem clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format* image_format,
                       size_t image_width, size_t image_height, size_t image_row_pitch, void* host_ptr,
                       cl_int* errcode_ret) {
  return create_entry<cl_mem>(errcode_ret, [&] {
    cl_image_desc description{};
    description.image_type = CL_MEM_OBJECT_IMAGE2D;
    description.image_width = image_width;
    description.image_height = image_height;
    description.image_row_pitch = image_row_pitch;
    return create_old_image(context, {{}, flags, image_format, &description, host_ptr});
  });
}

cl_mem clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format* image_format,
                       size_t image_width, size_t image_height, size_t image_depth, size_t image_row_pitch,
                       size_t image_slice_pitch, void* host_ptr, cl_int* errcode_ret) {
  return create_entry<cl_mem>(errcode_ret, [&] {
    cl_image_desc description{};
    description.image_type = CL_MEM_OBJECT_IMAGE3D;
    description.image_width = image_width;
    description.image_height = image_height;
    description.image_depth = image_depth;
    description.image_row_pitch = image_row_pitch;
    description.image_slice_pitch = image_slice_pitch;
    return create_old_image(context, {{}, flags, image_format, &description, host_ptr});
  });
}

cl_int clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type image_type,
                                  cl_uint num_entries, cl_image_format* image_formats,
                                  cl_uint* num_image_formats) {
  return entry([&]() -> cl_int {
    Context* const owner = downcast<Context>(context);
    if (owner == nullptr) return CL_INVALID_CONTEXT;
    if (num_entries == 0 && image_formats != nullptr) return CL_INVALID_VALUE;
    const wire::InfoReply* const reply = owner->image_formats(flags, image_type);
    if (reply == nullptr) return kSessionLost;
    if (reply->error != CL_SUCCESS) return reply->error;
    const std::size_t count = reply->value.size() / sizeof(cl_image_format);
    if (num_image_formats != nullptr) *num_image_formats = static_cast<cl_uint>(count);
    if (image_formats != nullptr && count != 0) {
      const std::size_t copied = std::min<std::size_t>(count, num_entries);
      std::memcpy(image_formats, reply->value.data(), copied * sizeof(cl_image_format));
    }
    return CL_SUCCESS;
  });
}

cl_int clGetImageInfo(cl_mem image, cl_image_info param_name, size_t param_value_size, void* param_value,
                      size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    const Memory* const memory = downcast<Memory>(image);
    if (memory == nullptr || memory->image() == nullptr) return CL_INVALID_MEM_OBJECT;
    return image_info(*memory, param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

}  // namespace fairgv::icd
