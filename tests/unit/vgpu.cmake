# The tests of runtime/vgpu.
add_executable(vgpu_test
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/device_threads_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/executor_access_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/executor_completion_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/executor_failure_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/executor_event_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/executor_load_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/executor_turn_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/graph/accesses_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/graph/failures_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/graph/graph_random_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/graph/lifetime_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/graph/memory_account_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/graph/memory_waits_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/graph/object_table_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/graph/pending_call_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/graph/queues_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/graph/waits_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/journal_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/kernel_name_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/long_commands_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/opencl/include_files_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/opencl/late_code_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/reports_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/residency_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/rings_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/sequence_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/service_units_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/slicing_ahead_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/slicing_choice_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/slicing_parts_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/turn/awake_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/turn/host_steal_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/turn/stolen_time_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/turn/turn_contended_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/turn/turn_coscheduled_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/turn/turn_lone_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/turn/turn_promise_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/turn/turn_stolen_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/turn/turn_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/turn/turn_wait_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/worker_test.cpp)
target_link_libraries(vgpu_test PRIVATE fairgv_vgpu harness fairgv_warnings GTest::gtest_main)
fairgv_discover_tests(vgpu_test WHOLE PROPERTIES TIMEOUT 120)

# On the machine's real OpenCL driver: the worker in this process, and as the process that fairgvd starts.
add_executable(vgpu_driver_test
  ${CMAKE_CURRENT_LIST_DIR}/opencl/code_gate_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/opencl/begun_launch_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/opencl/copies_ahead_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/opencl/gates_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/opencl/hostile_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/opencl/move_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/opencl/opencl_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/opencl/shown_image_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/opencl/sub_devices_move_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu/process_test.cpp)
target_link_libraries(vgpu_driver_test PRIVATE fairgv_vgpu fairgv_control fairgv_warnings GTest::gtest_main GTest::gmock)
target_compile_definitions(vgpu_driver_test PRIVATE FAIRGV_VGPU="$<TARGET_FILE:fairgv-vgpu>")
add_dependencies(vgpu_driver_test fairgv-vgpu)
fairgv_discover_tests(vgpu_driver_test WHOLE ENVIRONMENT "${FAIRGV_DRIVER_LEAKS}" PROPERTIES TIMEOUT 120)
