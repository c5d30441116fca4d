#include "icd/session/fork.hpp"

#include "icd/extensions/extension_functions.hpp"
#include "icd/memory/memory.hpp"
#include "icd/objects/command_buffer.hpp"
#include "icd/objects/context.hpp"
#include "icd/objects/event.hpp"
#include "icd/objects/platform.hpp"
#include "icd/objects/queue.hpp"
#include "icd/objects/sampler.hpp"
#include "icd/programs/kernel.hpp"
#include "icd/programs/program.hpp"

namespace fairgv::icd {

void forget_objects_in_child() {
  Platform::forget_connection();
  Device::forget_all();
  Context::forget_all();
  Queue::forget_all();
  Memory::forget_all();
  Program::forget_all();
  Kernel::forget_all();
  Event::forget_all();
  Sampler::forget_all();
  CommandBuffer::forget_all();
  forget_extension_functions();
}

}  // namespace fairgv::icd
