# Unit tests of sched/; included by tests/unit/CMakeLists.txt.
add_executable(sched_test
  ${CMAKE_CURRENT_LIST_DIR}/sched_fair_queue.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched_fair_queue_random.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched_policies.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched_simulation.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched_simulation_random.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched_slice_plan.cpp)
target_link_libraries(sched_test PRIVATE fairgv_sched fairgv_warnings GTest::gtest_main)
gtest_discover_tests(sched_test)
