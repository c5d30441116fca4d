#include "cuda-shim/driver/linking.hpp"

#include "cuda-shim/api/context.hpp"
#include "cuda-shim/driver/engine.hpp"
#include "cuda-shim/driver/storage.hpp"

namespace fairgv::cuda::remote {

std::shared_ptr<cuda::Linking> Engine::make_linking(Context& context, JitOptions options) {
  return std::make_shared<Linking>(workers(context.group()), std::move(options));
}

CUresult Linking::add(CUjitInputType type, const void* data, std::size_t size, const char* name) {
  if (type < 0 || type >= CU_JIT_NUM_INPUT_TYPES) return CUDA_ERROR_INVALID_VALUE;
  const auto* const first = static_cast<const std::byte*>(data);
  wire::cuda::LinkInput input;
  input.type = static_cast<std::uint32_t>(type);
  input.name = name == nullptr ? "" : name;
  input.data.assign(first, first + size);
  const std::lock_guard guard(lock_);
  inputs_.push_back(std::move(input));
  return CUDA_SUCCESS;
}

std::optional<wire::cuda::LinkedReply> link_by_worker(const std::shared_ptr<StreamGroup>& group,
                                                      std::vector<wire::cuda::LinkInput> inputs,
                                                      const std::vector<JitNumber>& numbers) {
  Connection& connection = group->connection();
  std::vector<wire::cuda::JitOption> options;
  for (const JitNumber& number : numbers) {
    options.push_back({static_cast<std::uint32_t>(number.option), 0, number.value});
  }
  const wire::ObjectId id = connection.session().new_object();
  const Operation linked(connection, connection.new_event());
  wire::cuda::Link call;
  call.id = id;
  call.context = group->context();
  call.completion = linked.event();
  call.inputs = std::move(inputs);
  call.options = options;
  if (!connection.send(call)) return std::nullopt;
  const WorkersObject result(group, id);
  linked.wait();
  return connection.call(wire::cuda::GetLinked{id});
}

/// Called with the lock: no other thread may use the linking meanwhile.
CUresult Linking::link() {
  auto reply = link_by_worker(group_, inputs_, options_.numbers);
  if (!reply) {
    const CUresult fault = group_->fault();
    return fault == CUDA_SUCCESS ? CUDA_ERROR_OUT_OF_MEMORY : fault;
  }
  const auto code = static_cast<CUresult>(reply->code);
  tell({reply->error_log, reply->info_log}, options_, code);
  if (code == CUDA_SUCCESS) image_ = std::move(reply->image);
  return code;
}

CUresult Linking::complete(void*& image, std::size_t& size) {
  const std::lock_guard guard(lock_);
  if (inputs_.empty()) return CUDA_ERROR_INVALID_VALUE;
  if (image_.empty()) {
    if (const CUresult code = link(); code != CUDA_SUCCESS) return code;
  }
  image = image_.data();
  size = image_.size();
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda::remote
