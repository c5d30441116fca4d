# The checks of `fairgv doctor`, on prepared machines.
add_library(doctor_crashing_driver MODULE ${CMAKE_CURRENT_LIST_DIR}/doctor/crashing_driver.cpp)
target_link_libraries(doctor_crashing_driver PRIVATE fairgv_warnings)

add_executable(doctor_test
  ${CMAKE_CURRENT_LIST_DIR}/doctor/daemon_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/doctor/device_file_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/doctor/icd_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/doctor/kernel_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/doctor/limit_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/doctor/probe_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/doctor/report_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/doctor/shadow_test.cpp)
target_link_libraries(doctor_test PRIVATE fairgv_doctor fairgv_warnings nlohmann_json::nlohmann_json GTest::gtest_main)
target_compile_definitions(doctor_test PRIVATE
  FAIRGV_ICD="$<TARGET_FILE:fairgv-opencl>"
  FAIRGV_CRASHING_DRIVER="$<TARGET_FILE:doctor_crashing_driver>")
add_dependencies(doctor_test fairgv-opencl doctor_crashing_driver)
fairgv_discover_tests(doctor_test WHOLE PROPERTIES TIMEOUT 120)
