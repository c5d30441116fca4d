# The daemon and the sockets it speaks through.
add_executable(daemon_test
  ${CMAKE_CURRENT_LIST_DIR}/daemon_access_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_config_manual_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_config_report_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_config_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_counted_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_device_hardware_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_device_view_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_dispatch_loop_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_wake_latency_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_dispatcher_policy_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_dispatcher_random_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_dispatcher_suspend_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_dispatcher_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_files_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_handover_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_hold_watchdog_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_limits_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_long_command_book_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_matching_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_memory_book_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_memory_protocol_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_output_lines_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_owners_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_peer_process_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_probation_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_processor_clock_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_processor_use_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_protocol_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_metrics_server_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_ps_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_reception_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_service_manager_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_session_table_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_socket_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_subordinate_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_switching_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_tenants_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_trace_slot_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_turn_cost_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_usage_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_usage_window_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_worker_arguments_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_worker_cage_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_worker_descendants_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_worker_output_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon_worker_process_test.cpp
  ${PROJECT_SOURCE_DIR}/tools/fairgv/long_commands.cpp
  ${PROJECT_SOURCE_DIR}/tools/fairgv/usage_time.cpp)
target_link_libraries(daemon_test PRIVATE fairgv_daemon harness fairgv_warnings fmt::fmt spdlog::spdlog GTest::gtest_main Threads::Threads)
# What the tests put into a worker's cage.
add_executable(daemon_cage_probe ${CMAKE_CURRENT_LIST_DIR}/daemon_cage_probe.cpp)
target_link_libraries(daemon_cage_probe PRIVATE fairgv_warnings Threads::Threads)
target_compile_definitions(daemon_test PRIVATE FAIRGV_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_dependencies(daemon_test daemon_cage_probe)
gtest_discover_tests(daemon_test DISCOVERY_TIMEOUT 120 NO_PRETTY_VALUES PROPERTIES TIMEOUT 120)
