# What `fairgv doctor` looks at, on prepared machines.
add_library(doctor_crashing_driver MODULE ${CMAKE_CURRENT_LIST_DIR}/doctor_crashing_driver.cpp)
target_link_libraries(doctor_crashing_driver PRIVATE fairgv_warnings)

add_executable(doctor_test
  ${CMAKE_CURRENT_LIST_DIR}/doctor_daemon_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/doctor_device_file_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/doctor_icd_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/doctor_kernel_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/doctor_limit_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/doctor_probe_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/doctor_report_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/doctor_shadow_test.cpp)
target_link_libraries(doctor_test PRIVATE fairgv_doctor fairgv_warnings nlohmann_json::nlohmann_json GTest::gtest_main)
target_compile_definitions(doctor_test PRIVATE
  FAIRGV_ICD="$<TARGET_FILE:fairgv-opencl>"
  FAIRGV_CRASHING_DRIVER="$<TARGET_FILE:doctor_crashing_driver>")
add_dependencies(doctor_test fairgv-opencl doctor_crashing_driver)
gtest_discover_tests(doctor_test DISCOVERY_TIMEOUT 120 NO_PRETTY_VALUES PROPERTIES TIMEOUT 120)
