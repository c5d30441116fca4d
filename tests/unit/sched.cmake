# Unit tests of sched/; included by tests/unit/CMakeLists.txt. Policies and simulator have no threads, in which
# ThreadSanitizer looks for faults.
add_executable(sched_test
  ${CMAKE_CURRENT_LIST_DIR}/sched/choice/accelerator_weight_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/choice/device_choice_random_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/choice/device_choice_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/choice/placement_run_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/command_history_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/fair_policy_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/fair_queue_claim_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/fair_queue_random_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/fair_queue_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/figure_run_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/gover/cap_policy_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/gover/cap_random_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/gover/capacity_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/gover/controller_random_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/gover/controller_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/gover/detector_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/gover/figures_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/gover/mitigator_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/gover/monitor_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/gover/oversell_run_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/interactivity_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/other_policies_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/pegasus/coordinated_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/pegasus/fair_paper_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/pegasus/figures_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/pegasus/host_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/pegasus/ring_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/pegasus/strict_cosched_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/policies_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/probe_pace_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/promises/ceiling_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/promises/exchange_random_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/promises/fair_classes_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/promises/fair_exchange_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/promises/fair_promises_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/promises/guarantees_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/promises/promises_random_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/promises/promises_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/sim_tenant_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/simulation_random_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/simulation_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/slice_rule_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/timegraph/admission_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/timegraph/cost_predictor_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/timegraph/reserve_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/timegraph/spec_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/timegraph/timegraph_figures_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/timegraph/timegraph_policy_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/timegraph/timegraph_random_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/timegraph/timegraph_reserves_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/timegraph/timegraph_simulation_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/turn_plan_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sched/water_level_test.cpp
  ${PROJECT_SOURCE_DIR}/tools/fairgv/sim/sim_tenant.cpp)
target_link_libraries(sched_test PRIVATE fairgv_sched fairgv_session fairgv_ring fairgv_warnings GTest::gtest_main)
# The simulations are tested with many tenants.
target_compile_options(sched_test PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
fairgv_discover_tests(sched_test WHOLE LONG "GoverFigures.ATenants*"
  SANITIZED_LONG "*Figures.*" "FigureRun.*" "PlacementRun.*")
