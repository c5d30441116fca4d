add_executable(session_test
  session/client_driver_test.cpp
  session/client_test.cpp
  session/compile_clock_test.cpp
  session/completion_board_test.cpp
  session/core_set_test.cpp
  session/daemon_users_test.cpp
  session/host_work_test.cpp
  session/identity_test.cpp
  session/memory_size_test.cpp
  session/journal_report_test.cpp
  session/near_word_test.cpp
  session/own_files_test.cpp
  session/service_unit_test.cpp
  session/slicing_wish_test.cpp
  session/tenant_wish_test.cpp
  session/time_slice_test.cpp
  session/trusted_daemon_test.cpp
  session/trusted_path_test.cpp
  session/turn_model_test.cpp
  session/worker_orders_test.cpp)
target_link_libraries(session_test PRIVATE fairgv_session fairgv_warnings GTest::gtest_main)
fairgv_discover_tests(session_test WHOLE)
