// Entry points: linking (CUDA Driver API, "cuLinkCreate" and its kin). The driver beneath links.
#include <string>

#include "cuda-shim/api/code/image_source.hpp"
#include "cuda-shim/api/entry/entry.hpp"
#include "cuda-shim/driver/linking.hpp"

namespace fairgv::cuda {
namespace {

template <typename Body>
CUresult on_linking(CUlinkState handle, const Body& body) noexcept {
  return initialized([&](Driver& driver) {
    const auto linking = driver.linkings.find(handle);
    return linking ? static_cast<CUresult>(body(driver, *linking)) : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult add(Linking& linking, CUjitInputType type, const void* data, std::size_t size, const char* name) {
  if (type < 0 || type >= CU_JIT_NUM_INPUT_TYPES) return CUDA_ERROR_INVALID_VALUE;
  const auto* const first = static_cast<const std::byte*>(data);
  wire::cuda::LinkInput input;
  input.type = static_cast<std::uint32_t>(type);
  input.name = name == nullptr ? "" : name;
  input.data.assign(first, first + size);
  const std::lock_guard guard(linking.lock);
  linking.inputs.push_back(std::move(input));
  return CUDA_SUCCESS;
}

/// With the linking's lock: nobody else may use it meanwhile.
CUresult complete(Connection& connection, Linking& linking) {
  std::vector<wire::cuda::JitOption> options;
  for (const JitNumber& number : linking.options.numbers) {
    options.push_back({static_cast<std::uint32_t>(number.option), 0, number.value});
  }
  const wire::ObjectId id = connection.session().new_object();
  const Operation linked(connection, connection.new_event());
  wire::cuda::Link call;
  call.id = id;
  call.context = linking.group->context();
  call.completion = linked.event();
  call.inputs = linking.inputs;
  call.options = options;
  if (!connection.send(call)) {
    const CUresult fault = connection.fault();
    return fault == CUDA_SUCCESS ? CUDA_ERROR_OUT_OF_MEMORY : fault;
  }
  const WorkersObject result(linking.group, id);
  linked.wait();
  auto reply = connection.call(wire::cuda::GetLinked{id});
  if (!reply) return connection.fault();
  const auto code = static_cast<CUresult>(reply->code);
  tell({reply->error_log, reply->info_log}, linking.options, code);
  if (code == CUDA_SUCCESS) linking.image = std::move(reply->image);
  return code;
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuLinkCreate(unsigned int count, CUjit_option* options, void** values, CUlinkState* state) {
  return in_context([=](Driver& driver, Context& context) {
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    JitOptions read;
    if (const CUresult code = read_jit_options(count, options, values, read); code != CUDA_SUCCESS)
      return code;
    *state = reinterpret_cast<CUlinkState>(
        driver.linkings.add(std::make_shared<Linking>(context.group(), std::move(read))));
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, std::size_t size,
                               const char* name, unsigned int, CUjit_option*, void**) {
  return on_linking(state, [=](Driver&, Linking& linking) {
    return data == nullptr || size == 0 ? CUDA_ERROR_INVALID_VALUE : add(linking, type, data, size, name);
  });
}

CUresult CUDAAPI cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned int,
                               CUjit_option*, void**) {
  return on_linking(state, [=](Driver&, Linking& linking) {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::string bytes;
    const CUresult code = read_whole_file(path, bytes);
    return code == CUDA_SUCCESS ? add(linking, type, bytes.data(), bytes.size(), path) : code;
  });
}

CUresult CUDAAPI cuLinkComplete(CUlinkState state, void** image, std::size_t* size) {
  return on_linking(state, [=](Driver& driver, Linking& linking) {
    if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard guard(linking.lock);
    if (linking.inputs.empty()) return CUDA_ERROR_INVALID_VALUE;
    if (linking.image.empty()) {
      if (const CUresult code = complete(driver.connection, linking); code != CUDA_SUCCESS) return code;
    }
    *image = linking.image.data();
    if (size != nullptr) *size = linking.image.size();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuLinkDestroy(CUlinkState state) {
  return initialized(
      [=](Driver& driver) { return driver.linkings.take(state) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; });
}

}  // extern "C"
}  // namespace fairgv::cuda
