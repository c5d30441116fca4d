// Entry points: samplers.
#include "icd/objects/sampler.hpp"
#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"
#include "icd/memory/image.hpp"
#include "icd/objects/properties.hpp"

namespace fairgv::icd {
namespace {

Outcome<cl_sampler> make_sampler(cl_context context, const Sampler::Settings& settings,
                                 std::vector<cl_sampler_properties> properties) {
  Context* const owner = downcast<Context>(context);
  if (owner == nullptr) return CL_INVALID_CONTEXT;
  if (!has_images(*owner)) return owner->session().lost() ? kSessionLost : CL_INVALID_OPERATION;
  if (!settings.are_valid()) return CL_INVALID_VALUE;
  if (owner->session().lost()) return kSessionLost;
  return Ref<Sampler>::make(*owner, settings, std::move(properties)).publish();
}

cl_int read_setting(cl_sampler_properties name, cl_sampler_properties value, Sampler::Settings& settings) {
  switch (name) {
    case CL_SAMPLER_NORMALIZED_COORDS:
      settings.normalized_coordinates = static_cast<cl_bool>(value);
      return CL_SUCCESS;
    case CL_SAMPLER_ADDRESSING_MODE:
      settings.addressing_mode = static_cast<cl_addressing_mode>(value);
      return CL_SUCCESS;
    case CL_SAMPLER_FILTER_MODE:
      settings.filter_mode = static_cast<cl_filter_mode>(value);
      return CL_SUCCESS;
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace

cl_sampler clCreateSampler(cl_context context, cl_bool normalized_coords, cl_addressing_mode addressing_mode,
                           cl_filter_mode filter_mode, cl_int* errcode_ret) {
  return create_entry<cl_sampler>(errcode_ret, [&] {
    return make_sampler(context, {normalized_coords, addressing_mode, filter_mode}, {});
  });
}

cl_sampler clCreateSamplerWithProperties(cl_context context, const cl_sampler_properties* sampler_properties,
                                         cl_int* errcode_ret) {
  return create_entry<cl_sampler>(errcode_ret, [&]() -> Outcome<cl_sampler> {
    if (downcast<Context>(context) == nullptr) return CL_INVALID_CONTEXT;
    Sampler::Settings settings;
    std::vector<cl_sampler_properties> list;
    const cl_int error = read_properties(sampler_properties, CL_INVALID_VALUE, list,
                                         [&](cl_sampler_properties name, cl_sampler_properties value) {
                                           return read_setting(name, value, settings);
                                         });
    if (error != CL_SUCCESS) return error;
    return make_sampler(context, settings, std::move(list));
  });
}

cl_int clRetainSampler(cl_sampler sampler) {
  return entry([&]() -> cl_int {
    Sampler* const object = downcast<Sampler>(sampler);
    if (object == nullptr) return CL_INVALID_SAMPLER;
    object->retain();
    return CL_SUCCESS;
  });
}

cl_int clReleaseSampler(cl_sampler sampler) {
  return entry([&]() -> cl_int {
    Sampler* const object = downcast<Sampler>(sampler);
    return object != nullptr && object->release() ? CL_SUCCESS : CL_INVALID_SAMPLER;
  });
}

cl_int clGetSamplerInfo(cl_sampler sampler, cl_sampler_info param_name, size_t param_value_size,
                        void* param_value, size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    const Sampler* const object = downcast<Sampler>(sampler);
    if (object == nullptr) return CL_INVALID_SAMPLER;
    return object->info(param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

}  // namespace fairgv::icd
