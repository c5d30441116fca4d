# API behaviour on whatever platform is visible. The program links OpenCL and GoogleTest, nothing of the project:
# once on the bare driver, once as a tenant, with the same expectations.
add_executable(opencl_api_test
  ${CMAKE_CURRENT_LIST_DIR}/opencl_argument_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_buffer_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_device_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_command_buffer_error_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_command_buffer_image_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_command_buffer_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_error_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_event_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_extension_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_fixture.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_image_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_include_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_kernel_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_link_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_map_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_platform_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_printf_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_program_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_rect_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_sampler_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_svm_error_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_svm_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_thread_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_torture_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/opencl_wrong_argument_test.cpp)
target_include_directories(opencl_api_test PRIVATE ${CMAKE_CURRENT_LIST_DIR}/../..)
target_link_libraries(opencl_api_test PRIVATE OpenCL::OpenCL GTest::gtest_main Threads::Threads fairgv_warnings)

# On the bare driver. The tests of sub-devices in a process of their own: PoCL 3.1 sometimes does not survive what comes
# after them. Nothing of the project is in this process, and nothing for sanitizers to find.
if(NOT FAIRGV_SANITIZE)
  add_test(NAME opencl_api_native COMMAND opencl_api_test --gtest_filter=-SubDevices.*)
  add_test(NAME opencl_api_native_sub_devices COMMAND opencl_api_test --gtest_filter=SubDevices.*)
  set_tests_properties(opencl_api_native opencl_api_native_sub_devices PROPERTIES
    ENVIRONMENT "OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd" TIMEOUT 300)
endif()
# As a tenant: system_programs_test.cpp.
