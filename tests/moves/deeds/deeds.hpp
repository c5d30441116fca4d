// The deeds that a random program may do next. Each adds steps to the plan, or none if the program has not
// got what the deed needs.
#pragma once

#include "tests/moves/plan/world.hpp"

namespace fairgv::moves {

// memory.cpp
void make_buffer(World& world, Number context);
void make_sub_buffer(World& world, Number context);
void make_image(World& world, Number context);
void make_image_of_buffer(World& world, Number context);
void make_sampler(World& world, Number context);
void make_svm(World& world, Number context);
/// Also while commands use it.
void release_memory(World& world, Number context);
void release_sampler(World& world, Number context);

// programs.cpp
void make_program(World& world, Number context);
void rebuild_program(World& world, Number context);
void release_program(World& world, Number context);
void make_kernel(World& world, Number context);
void clone_kernel(World& world, Number context);
void release_kernel(World& world, Number context);
Number add_kernel(World& world, Number program, const KernelKind& kind);
/// Not of a recording.
std::optional<Number> any_kernel(World& world, Number context);
std::optional<Number> any_program(World& world, Number context);

// launches.cpp
/// Whether the object that was set is still the program's.
bool argument_is_held(const World& world, const ArgumentModel& argument);
void launch(World& world, Number context);
/// A launch of the kernel, whose arguments are set as they must be, and what it uses; none if the context has
/// no memory for it. `only_buffers`: no shared virtual memory.
struct PreparedLaunch {
  Launch launch;
  std::vector<Use> uses;
  std::vector<Number> memories;
};
std::optional<PreparedLaunch> prepare_launch(World& world, Number kernel, bool only_buffers);

// transfers.cpp
void read_buffer(World& world, Number context);
void write_buffer(World& world, Number context);
void fill_buffer(World& world, Number context);
void copy_buffer(World& world, Number context);
void transfer_rect(World& world, Number context);
void copy_rect(World& world, Number context);
void migrate_memory(World& world, Number context);
void transfer_svm(World& world, Number context);

// images.cpp
void transfer_image(World& world, Number context);
void copy_image(World& world, Number context);
void copy_between_image_and_buffer(World& world, Number context);

// mappings.cpp
void open_mapping(World& world, Number context);
void close_mapping(World& world, Number context);

// events.cpp
void mark(World& world, Number context);
void flush(World& world, Number context);
void finish(World& world, Number context);
void wait_for_events(World& world, Number context);
void make_user_event(World& world, Number context);
void end_user_event(World& world, Number context);
void add_callback(World& world, Number context);
void release_events(World& world, Number context);
void look(World& world, Number context);
void retain_and_release(World& world, Number context);

// recordings.cpp
void record(World& world, Number context);
void replay(World& world, Number context);
void release_recording(World& world, Number context);

// mistakes.cpp
void make_mistake(World& world, Number context);

// contexts.cpp
void make_context(World& world);
void make_queue(World& world, Number context);
void release_queue(World& world, Number context);
/// Waits for all that is pending in the context, and releases it and what is in it, in any order.
void release_context(World& world, Number context);
/// Waits for everything and has the results checked.
void check(World& world);
/// Releases all that the program holds, in any order.
void release_all(World& world);

}  // namespace fairgv::moves
