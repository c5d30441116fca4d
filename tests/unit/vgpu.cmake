# The tests of runtime/vgpu.
add_executable(vgpu_test
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_awake_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_device_threads_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_executor_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_graph_random_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_graph_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_include_files_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_kernel_name_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_late_code_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_long_commands_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_memory_account_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_memory_waits_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_object_table_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_reports_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_rings_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_sequence_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_slicing_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_host_steal_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_stolen_time_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_turn_contended_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_turn_coscheduled_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_turn_lone_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_turn_stolen_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_turn_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_worker_test.cpp)
target_link_libraries(vgpu_test PRIVATE fairgv_vgpu harness fairgv_warnings GTest::gtest_main)
gtest_discover_tests(vgpu_test DISCOVERY_TIMEOUT 120 NO_PRETTY_VALUES PROPERTIES TIMEOUT 120)

# On the machine's real OpenCL driver: the worker in this process, and as the process that fairgvd starts.
add_executable(vgpu_driver_test
  ${CMAKE_CURRENT_LIST_DIR}/opencl_code_gate_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_opencl_hostile_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_opencl_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/vgpu_process_test.cpp)
target_link_libraries(vgpu_driver_test PRIVATE fairgv_vgpu fairgv_warnings GTest::gtest_main GTest::gmock)
target_compile_definitions(vgpu_driver_test PRIVATE FAIRGV_VGPU="$<TARGET_FILE:fairgv-vgpu>")
add_dependencies(vgpu_driver_test fairgv-vgpu)
gtest_discover_tests(vgpu_driver_test DISCOVERY_TIMEOUT 120 NO_PRETTY_VALUES PROPERTIES TIMEOUT 120
  ENVIRONMENT "${FAIRGV_DRIVER_LEAKS}")
