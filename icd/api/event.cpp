// Entry points: events.
#include "icd/objects/event.hpp"
#include "icd/api/api.hpp"
#include "icd/api/entry.hpp"
#include "icd/session/command.hpp"

namespace fairgv::icd {

cl_int clWaitForEvents(cl_uint num_events, const cl_event* event_list) {
  return entry([&]() -> cl_int {
    if (num_events == 0 || event_list == nullptr) return CL_INVALID_VALUE;
    const Context* context = nullptr;
    for (cl_uint i = 0; i < num_events; ++i) {
      const Event* const event = downcast<Event>(event_list[i]);
      if (event == nullptr) return CL_INVALID_EVENT;
      if (context != nullptr && event->context() != context) return CL_INVALID_CONTEXT;
      context = event->context();
    }
    const WaitingCall counted(context->connection());
    cl_int result = CL_SUCCESS;
    for (cl_uint i = 0; i < num_events; ++i) {
      const Event* const event = downcast<Event>(event_list[i]);
      if (event == nullptr) return CL_INVALID_EVENT;  // released by another thread meanwhile
      if (event->wait(wire::kWaitForEvents) < CL_COMPLETE)
        result = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    return result;
  });
}

cl_int clGetEventInfo(cl_event event, cl_event_info param_name, size_t param_value_size, void* param_value,
                      size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    const Event* const object = downcast<Event>(event);
    if (object == nullptr) return CL_INVALID_EVENT;
    return object->info(param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

cl_int clRetainEvent(cl_event event) {
  return entry([&]() -> cl_int {
    Event* const object = downcast<Event>(event);
    if (object == nullptr) return CL_INVALID_EVENT;
    object->retain();
    return CL_SUCCESS;
  });
}

cl_int clReleaseEvent(cl_event event) {
  return entry([&]() -> cl_int {
    Event* const object = downcast<Event>(event);
    return object != nullptr && object->release() ? CL_SUCCESS : CL_INVALID_EVENT;
  });
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info param_name, size_t param_value_size,
                               void* param_value, size_t* param_value_size_ret) {
  return entry([&]() -> cl_int {
    const Event* const object = downcast<Event>(event);
    if (object == nullptr) return CL_INVALID_EVENT;
    return object->profiling_info(param_name, {param_value_size, param_value, param_value_size_ret});
  });
}

cl_event clCreateUserEvent(cl_context context, cl_int* errcode_ret) {
  return create_entry<cl_event>(errcode_ret, [&]() -> Outcome<cl_event> {
    Context* const owner = downcast<Context>(context);
    if (owner == nullptr) return CL_INVALID_CONTEXT;
    if (owner->session().lost()) return kSessionLost;
    const Ref<Event> event = Event::make_user(*owner);
    if (!event) return CL_OUT_OF_RESOURCES;
    return event.publish();
  });
}

cl_int clSetUserEventStatus(cl_event event, cl_int execution_status) {
  return entry([&]() -> cl_int {
    Event* const object = downcast<Event>(event);
    if (object == nullptr || !object->is_user()) return CL_INVALID_EVENT;
    if (execution_status > CL_COMPLETE) return CL_INVALID_VALUE;
    // A thread that waits for the event may release it before this call has returned.
    const Ref<Event> event_under_way(*object);
    return object->set_user_status(execution_status);
  });
}

cl_int clSetEventCallback(cl_event event, cl_int command_exec_callback_type,
                          void(CL_CALLBACK* pfn_notify)(cl_event, cl_int, void*), void* user_data) {
  return entry([&]() -> cl_int {
    Event* const object = downcast<Event>(event);
    if (object == nullptr) return CL_INVALID_EVENT;
    if (pfn_notify == nullptr) return CL_INVALID_VALUE;
    const bool known = command_exec_callback_type == CL_SUBMITTED ||
                       command_exec_callback_type == CL_RUNNING || command_exec_callback_type == CL_COMPLETE;
    if (!known) return CL_INVALID_VALUE;
    const bool added = object->connection().callbacks().add(
        *object, command_exec_callback_type,
        [=](std::int32_t status) { pfn_notify(event, status, user_data); });
    return added ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
  });
}

}  // namespace fairgv::icd
