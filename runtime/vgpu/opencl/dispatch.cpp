#include "runtime/vgpu/opencl/backend.hpp"

namespace fairgv::vgpu {

template Result<void> dispatch(opencl::Backend&, Replies&, wire::Opcode, std::span<const std::byte>,
                               std::uint64_t);

}  // namespace fairgv::vgpu
