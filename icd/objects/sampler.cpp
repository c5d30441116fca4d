#include "icd/objects/sampler.hpp"

namespace fairgv::icd {

bool Sampler::Settings::are_valid() const {
  if (normalized_coordinates != CL_TRUE && normalized_coordinates != CL_FALSE) return false;
  if (addressing_mode < CL_ADDRESS_NONE || addressing_mode > CL_ADDRESS_MIRRORED_REPEAT) return false;
  if (filter_mode != CL_FILTER_NEAREST && filter_mode != CL_FILTER_LINEAR) return false;
  const bool repeats = addressing_mode == CL_ADDRESS_REPEAT || addressing_mode == CL_ADDRESS_MIRRORED_REPEAT;
  return normalized_coordinates == CL_TRUE || !repeats;
}

Sampler::Sampler(Context& context, const Settings& settings, std::vector<cl_sampler_properties> properties)
    : context_(context),
      id_(context.session().new_object()),
      settings_(settings),
      properties_(std::move(properties)) {
  context.connection().send(wire::CreateSampler{id_, context.id(), settings.normalized_coordinates,
                                                settings.addressing_mode, settings.filter_mode});
}

Sampler::~Sampler() {
  context_->session().release_object(id_);
}

cl_int Sampler::info(cl_sampler_info param, InfoSink sink) const {
  switch (param) {
    case CL_SAMPLER_REFERENCE_COUNT:
      return sink.scalar(cl_uint{references()});
    case CL_SAMPLER_CONTEXT:
      return sink.scalar(context_->handle());
    case CL_SAMPLER_NORMALIZED_COORDS:
      return sink.scalar(settings_.normalized_coordinates);
    case CL_SAMPLER_ADDRESSING_MODE:
      return sink.scalar(settings_.addressing_mode);
    case CL_SAMPLER_FILTER_MODE:
      return sink.scalar(settings_.filter_mode);
    case CL_SAMPLER_PROPERTIES:
      return sink.array(std::span<const cl_sampler_properties>(properties_));
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace fairgv::icd
