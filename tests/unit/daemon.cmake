# The daemon and the sockets it speaks through.
add_executable(daemon_test
  ${CMAKE_CURRENT_LIST_DIR}/daemon/adjustments_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/books/counted_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/books/host_credits_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/books/long_command_book_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/books/memory_book_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/books/metrics_server_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/books/processor_use_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/books/usage_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/books/usage_window_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/cage/access_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/cage/cage_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/cage/cage_view_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/config/config_mistake_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/config/config_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/config/devices_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/config/files_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/config/manual_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/config/report_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/config/timegraph_spec_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/control_protocol_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/device_hardware_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/device_view_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/dispatch_devices_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/dispatch_loop_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/dispatch_threads_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/dispatcher_broken_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/dispatcher_policy_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/dispatcher_promise_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/dispatcher_random_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/dispatcher_share_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/dispatcher_suspend_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/dispatcher_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/interruption_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/hold_watchdog_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/host_watch_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/switching_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/turn_cost_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/dispatch/wake_latency_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/exchange_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/foreground_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/handover_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/handover_turns_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/interventions_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/limits_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/memory_protocol_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/oversell/market_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/oversell/markets_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/protocol_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/ps_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/reception_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/session_devices_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/session_journal_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/session_placement_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/session_table_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/socket_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/tenants/matching_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/tenants/owners_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/tenants/peer_process_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/tenants/probation_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/tenants/tenant_prospect_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/tenants/subordinate_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/tenants/tenant_homes_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/tenants/tenant_promises_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/tenants/tenant_reserves_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/tenants/tenants_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/trace_slot_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/worker/descendants_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/worker/host_weight_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/worker/options_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/worker/output_lines_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/worker/output_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/worker/process_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/worker/processor_clock_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/worker/service_manager_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/daemon/worker_offence_test.cpp
  ${PROJECT_SOURCE_DIR}/tools/fairgv/ps/long_commands.cpp
  ${PROJECT_SOURCE_DIR}/tools/fairgv/ps/oversold.cpp
  ${PROJECT_SOURCE_DIR}/tools/fairgv/usage_time.cpp)
target_link_libraries(daemon_test PRIVATE fairgv_daemon harness fairgv_warnings fmt::fmt spdlog::spdlog GTest::gtest_main Threads::Threads)
# The program that the tests put into a worker's cage.
add_executable(daemon_cage_probe ${CMAKE_CURRENT_LIST_DIR}/daemon/cage/cage_probe.cpp)
target_link_libraries(daemon_cage_probe PRIVATE fairgv_warnings Threads::Threads)
target_compile_definitions(daemon_test PRIVATE FAIRGV_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_dependencies(daemon_test daemon_cage_probe)
fairgv_discover_tests(daemon_test WHOLE PROPERTIES TIMEOUT 120)
