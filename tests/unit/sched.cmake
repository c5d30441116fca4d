# Unit tests of sched/; included by tests/unit/CMakeLists.txt.
add_executable(sched_test
  ${CMAKE_CURRENT_LIST_DIR}/sched_command_history.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched_fair_queue.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched_fair_queue_random.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched_interactivity.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched_policies.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched_probe_pace.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched_sim_tenant.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched_simulation.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched_simulation_random.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched_slice_rule.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched_turn_plan.cpp
  ${PROJECT_SOURCE_DIR}/tools/fairgv/sim_tenant.cpp)
target_link_libraries(sched_test PRIVATE fairgv_sched fairgv_session fairgv_ring fairgv_warnings GTest::gtest_main)
# The simulations are tested with many tenants.
target_compile_options(sched_test PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
gtest_discover_tests(sched_test DISCOVERY_TIMEOUT 120 NO_PRETTY_VALUES)
