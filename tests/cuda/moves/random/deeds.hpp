// The steps of a random CUDA program: each does what it finds something to do with.
#pragma once

#include "tests/cuda/moves/random/world.hpp"

namespace fairgv::moves::cuda {

// ---- memory, modules, images (objects.cpp)

void make_buffer(World& world);
void free_buffer(World& world);
void make_module(World& world);
void unload_module(World& world);
void make_image(World& world);
void destroy_image(World& world);
void release_everything(World& world);

// ---- commands (streams.cpp)

void enqueue_commands(World& world);
void make_gate(World& world);
void remember_address(World& world);
void set_constant(World& world);
void write_from_host(World& world);
void make_stream(World& world);
void destroy_stream(World& world);
void keep_event(World& world);
void wait_for_event(World& world);
void drop_event(World& world);
void synchronize(World& world);

// ---- graphs (graphs.cpp)

void capture_graph(World& world);
void build_graph(World& world);
void launch_graph(World& world);
void change_graph(World& world);
void destroy_graph(World& world);
void destroy(World& world, Graph& graph);

// ---- results (looks.cpp)

/// The contents of one object.
void look(World& world);
/// The contents of all, and a line with what was found since the last one.
void look_at_all(World& world);

}  // namespace fairgv::moves::cuda
