// A sampler: how kernels read an image between and beyond its elements.
#pragma once

#include <vector>

#include "icd/objects/context.hpp"
#include "icd/objects/info.hpp"
#include "icd/objects/object.hpp"

namespace fairgv::icd {

class Sampler : public Object<Sampler> {
 public:
  using Handle = cl_sampler;
  static constexpr Kind kKind = Kind::sampler;
  static constexpr bool kSurvivesFork = false;

  struct Settings {
    cl_bool normalized_coordinates = CL_TRUE;
    cl_addressing_mode addressing_mode = CL_ADDRESS_CLAMP;
    cl_filter_mode filter_mode = CL_FILTER_NEAREST;

    /// Whether the values exist and go together (OpenCL 3.0, 5.7.1: CL_INVALID_VALUE if not).
    bool are_valid() const;
  };

  /// `properties`: as given to clCreateSamplerWithProperties, with the final 0, or empty.
  Sampler(Context& context, const Settings& settings, std::vector<cl_sampler_properties> properties);
  ~Sampler();

  Context& context() const { return *context_; }
  wire::ObjectId id() const { return id_; }

  /// clGetSamplerInfo.
  cl_int info(cl_sampler_info param, InfoSink sink) const;

 private:
  const Ref<Context> context_;
  const wire::ObjectId id_;
  const Settings settings_;
  const std::vector<cl_sampler_properties> properties_;
};

}  // namespace fairgv::icd
