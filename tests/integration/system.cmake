add_executable(opencl_calls programs/opencl_calls.cpp)
target_link_libraries(opencl_calls PRIVATE workload_support fairgv_warnings)
add_executable(opencl_flood programs/opencl_flood.cpp)
target_link_libraries(opencl_flood PRIVATE workload_support fairgv_warnings Threads::Threads)
add_executable(opencl_late programs/opencl_late.cpp)
target_link_libraries(opencl_late PRIVATE workload_support fairgv_warnings)
add_executable(opencl_life programs/opencl_life.cpp)
target_link_libraries(opencl_life PRIVATE workload_support fairgv_warnings Threads::Threads)
add_executable(opencl_quota_test ${CMAKE_CURRENT_LIST_DIR}/opencl/fixture.cpp opencl/memory/quota_test.cpp
  opencl/memory/release_random_test.cpp opencl/memory/release_test.cpp)
target_include_directories(opencl_quota_test PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(opencl_quota_test PRIVATE harness OpenCL::OpenCL GTest::gtest_main Threads::Threads fairgv_warnings)
add_executable(quota_program programs/quota_program.cpp)
target_link_libraries(quota_program PRIVATE OpenCL::OpenCL Threads::Threads fairgv_warnings)
add_executable(opencl_limits programs/opencl_limits.cpp)
target_link_libraries(opencl_limits PRIVATE OpenCL::OpenCL fairgv_warnings)
add_executable(opencl_mistake programs/opencl_mistake.cpp)
target_link_libraries(opencl_mistake PRIVATE OpenCL::OpenCL fairgv_warnings)
add_executable(opencl_unload programs/opencl_unload.cpp)
target_link_libraries(opencl_unload PRIVATE fairgv_warnings ${CMAKE_DL_LIBS})

add_executable(system_test
  system/containment/address_space_test.cpp
  system/containment/cage_test.cpp
  system/containment/faults_test.cpp
  system/containment/flood_test.cpp
  system/containment/hostile_test.cpp
  system/containment/input_test.cpp
  system/containment/kinship_test.cpp
  system/containment/limits_test.cpp
  system/containment/output_test.cpp
  system/containment/quota_protocol_test.cpp
  system/containment/quota_test.cpp
  system/life_test.cpp
  system/names_test.cpp
  system/placement_test.cpp
  system/programs_test.cpp
  system/reload_test.cpp
  system/restart_test.cpp
  system/tools/bench_test.cpp
  system/tools/doctor_test.cpp
  system/tools/experiments_test.cpp
  system/tools/readme_test.cpp
  system/tools/top_test.cpp
  system/tools/trace_test.cpp)
target_link_libraries(system_test PRIVATE harness fairgv_session fairgv_warnings GTest::gtest_main)
target_compile_definitions(system_test PRIVATE
  FAIRGV_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
  FAIRGV_ICD="$<TARGET_FILE:fairgv-opencl>"
  FAIRGV_BENCHMARKS=$<BOOL:${FAIRGV_BUILD_BENCHMARKS}>
  FAIRGV_SANITIZED=$<BOOL:${FAIRGV_SANITIZE}>)
add_dependencies(system_test hostile fairgv fairgvd fairgv-vgpu fairgv-opencl opencl_api_test opencl_breakout opencl_calls opencl_life opencl_limits opencl_loss
  opencl_quota_test opencl_unload quota_program)
if(FAIRGV_CUDA_INCLUDE)
  target_sources(system_test PRIVATE system/cuda_worker_memory_test.cpp system/cuda_worker_ranges_test.cpp
    system/cuda_worker_test.cpp)
  add_dependencies(system_test fairgv-softcuda)
endif()
# The tests start the programs that lie beside them. The results of these tests do not depend on other work of the
# machine; all other tests count processes, shares or seconds.
set(side_by_side "*/ApiThroughFairGV.*:*/WorkloadThroughFairGV.*:*/QuotaTable.*:*/LifeOfAProgram.*:*/BadInput.*\
:*/AddressSpace.*:Names.*:CudaWorker.*:CudaWorkerRanges.*:QuotaConfiguration.*:RawClient.*:Identity.*:Programs.*")
# Sanitizers see the whole API once: AddressSanitizer where launches are whole, ThreadSanitizer where a worker cuts them.
set(long_side_by_side "*/ApiThroughFairGV.*WhereNoBufferIsReachedDirectly/Api")
if(FAIRGV_SANITIZE STREQUAL "address")
  list(APPEND long_side_by_side "*/ApiThroughFairGV.*CutAtRandom/Api" "*/QuotaTable.*WithoutDirectMemory")
elseif(FAIRGV_SANITIZE STREQUAL "thread")
  list(APPEND long_side_by_side "*/ApiThroughFairGV.BehavesAsOnTheDriver/Api" "*/QuotaTable.*")
endif()
fairgv_discover_tests(system_test ONLY "${side_by_side}" LONG ${long_side_by_side} PROPERTIES TIMEOUT 400)
set(long_serial "SystemExperiments.TheCostOfSlicing*" "SystemExperiments.PromisesAreThoseOfEachOfThreeDevices"
  "SystemExperiments.*TwoDevices*" "Experiments.*TwoDevices*" "Experiments.UtilisationBesideASleeper*")
# The workers' memory and threads are the same in these as in others, which take less time.
set(sanitized_long_serial "CagedSystem.BuildsWith*" "CagedSystem.OfAUsersOwn*" "Flood.OfRequests*" "PlacedSystem.*"
  "QuotaSystem.AStorm*" "Readme.*" "Top.*" "*/TopEnds.*" "TraceSystem.*")
fairgv_discover_tests(system_test BUT "${side_by_side}" LONG ${long_serial} SANITIZED_LONG ${sanitized_long_serial}
  PROPERTIES TIMEOUT 180 RUN_SERIAL ON)

# A driver that needs a library which no linker finds.
add_library(fairgv-test-lacked SHARED programs/lacked_library.cpp)
add_library(lacking_driver MODULE programs/lacking_driver.cpp)
target_link_libraries(lacking_driver PRIVATE fairgv-test-lacked)
set_target_properties(fairgv-test-lacked PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/elsewhere)
set_target_properties(lacking_driver PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} SKIP_BUILD_RPATH ON)
add_executable(system_driver_test system/driver_test.cpp)
target_link_libraries(system_driver_test PRIVATE harness fairgv_warnings GTest::gtest_main nlohmann_json::nlohmann_json)
target_compile_definitions(system_driver_test PRIVATE FAIRGV_LACKING_DRIVER="$<TARGET_FILE:lacking_driver>")
add_dependencies(system_driver_test lacking_driver opencl_mistake fairgv fairgvd fairgv-vgpu fairgv-opencl computeLoop scan)
fairgv_discover_tests(system_driver_test PROPERTIES TIMEOUT 180 RUN_SERIAL ON)

# Other users' processes in the daemon's place, people's interventions in sessions, promises, and
# policies that follow the host. A program of its own, because it needs few of the programs above.
add_executable(system_peer_test system/containment/impostor_test.cpp system/host_test.cpp system/pause_test.cpp
  system/promises_test.cpp system/session_show_test.cpp)
target_compile_definitions(system_peer_test PRIVATE FAIRGV_ICD="$<TARGET_FILE:fairgv-opencl>"
  FAIRGV_CUDA=$<BOOL:${FAIRGV_CUDA_INCLUDE}>)
if(FAIRGV_CUDA_INCLUDE)
  add_executable(cuda_late programs/cuda_late.cpp)
  target_include_directories(cuda_late SYSTEM PRIVATE "${FAIRGV_CUDA_INCLUDE}")
  target_link_libraries(cuda_late PRIVATE fairgv-cuda fairgv_warnings)
  add_dependencies(system_peer_test cuda_late fairgv-softcuda)
endif()
target_link_libraries(system_peer_test PRIVATE harness fairgv_session fairgv_warnings GTest::gtest_main nlohmann_json::nlohmann_json)
add_dependencies(system_peer_test opencl_flood fairgv fairgvd fairgv-vgpu fairgv-opencl computeLoop matrixMul)
fairgv_discover_tests(system_peer_test SANITIZED_LONG "HostsPolicies.*" "Sampled.*" "PromisesOfPrograms.*"
  PROPERTIES TIMEOUT 180 RUN_SERIAL ON)

# What they look for is outside of what sanitizers see, or in code that other tests run under them.
if(FAIRGV_SANITIZE)
  return()
endif()

# Programs of their own, as the one before them, and for the same reason.
add_executable(system_books_test system/books_test.cpp)
target_link_libraries(system_books_test PRIVATE harness fairgv_warnings GTest::gtest_main nlohmann_json::nlohmann_json)
target_compile_definitions(system_books_test PRIVATE FAIRGV_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_dependencies(system_books_test fairgv fairgvd fairgv-vgpu fairgv-opencl)
fairgv_discover_tests(system_books_test PROPERTIES TIMEOUT 180 RUN_SERIAL ON)

add_executable(system_device_time_test system/device_time_test.cpp)
target_link_libraries(system_device_time_test PRIVATE harness fairgv_warnings GTest::gtest_main nlohmann_json::nlohmann_json)
add_dependencies(system_device_time_test opencl_late rogue fairgv fairgvd fairgv-vgpu fairgv-opencl)
if(FAIRGV_CUDA_INCLUDE)
  add_dependencies(system_device_time_test cuda_late fairgv-softcuda)
endif()
target_compile_definitions(system_device_time_test PRIVATE FAIRGV_CUDA=$<BOOL:${FAIRGV_CUDA_INCLUDE}>)
fairgv_discover_tests(system_device_time_test LONG "*/InParts" "*/Recorded" PROPERTIES TIMEOUT 180 RUN_SERIAL ON)
# The devices that the daemon chooses for sessions.
add_executable(opencl_devices programs/opencl_devices.cpp)
target_link_libraries(opencl_devices PRIVATE OpenCL::OpenCL fairgv_warnings)
add_executable(system_devices_test system/device_choice_test.cpp)
target_compile_definitions(system_devices_test PRIVATE FAIRGV_CUDA=$<BOOL:${FAIRGV_CUDA_INCLUDE}>)
target_link_libraries(system_devices_test PRIVATE harness fairgv_session fairgv_warnings GTest::gtest_main nlohmann_json::nlohmann_json)
add_dependencies(system_devices_test fairgv fairgvd fairgv-vgpu fairgv-opencl computeLoop matrixMul opencl_devices)
if(FAIRGV_CUDA_INCLUDE)
  add_dependencies(system_devices_test fairgv-softcuda)
endif()
fairgv_discover_tests(system_devices_test PROPERTIES TIMEOUT 180 RUN_SERIAL ON)

# Sessions that move.
add_executable(opencl_wanderer programs/opencl_wanderer.cpp)
target_link_libraries(opencl_wanderer PRIVATE OpenCL::OpenCL fairgv_warnings)
add_executable(system_move_test system/move_test.cpp system/moves/checkpoint_test.cpp
  system/moves/device_failure_test.cpp
  system/moves/drain_test.cpp
  system/moves/failures_test.cpp
  system/moves/park_test.cpp
  system/moves/shown_files_test.cpp)
target_link_libraries(system_move_test PRIVATE harness fairgv_warnings GTest::gtest_main nlohmann_json::nlohmann_json)
# A driver one of whose devices fails on demand, and a program that goes on when a command fails so.
add_library(failing_driver MODULE programs/failing_driver.cpp)
target_link_libraries(failing_driver PRIVATE fairgv_warnings ${CMAKE_DL_LIBS})
target_compile_definitions(failing_driver PRIVATE CL_TARGET_OPENCL_VERSION=300)
set_target_properties(failing_driver PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
add_executable(opencl_survivor programs/opencl_survivor.cpp)
target_link_libraries(opencl_survivor PRIVATE OpenCL::OpenCL fairgv_warnings)
target_compile_definitions(system_move_test PRIVATE FAIRGV_FAILING_DRIVER="$<TARGET_FILE:failing_driver>")
add_dependencies(system_move_test failing_driver fairgv fairgvd fairgv-vgpu fairgv-opencl opencl_survivor
  opencl_wanderer)
fairgv_discover_tests(system_move_test PROPERTIES TIMEOUT 180 RUN_SERIAL ON)
if(FAIRGV_CUDA_INCLUDE)
  add_executable(system_cuda_move_test system/cuda_move_test.cpp system/moves/cuda_device_failure_test.cpp)
  target_compile_definitions(system_cuda_move_test PRIVATE FAIRGV_FAILING_DRIVER="$<TARGET_FILE:failing_driver>")
  target_link_libraries(system_cuda_move_test PRIVATE harness fairgv_session fairgv_warnings GTest::gtest_main
                                                      nlohmann_json::nlohmann_json)
  add_dependencies(system_cuda_move_test failing_driver fairgv fairgvd fairgv-vgpu fairgv-softcuda)
  # The software driver as a driver that chooses addresses by itself.
  set(unplaced_driver "${CMAKE_CURRENT_BINARY_DIR}/unplaced/libcuda.so.1")
  add_custom_command(OUTPUT "${unplaced_driver}" DEPENDS fairgv-softcuda VERBATIM
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_CURRENT_BINARY_DIR}/unplaced"
    COMMAND sh -c "LC_ALL=C sed 's/cuFairgvPlaceNext/cuFairgvPlaceNone/g; s/cuFairgvHeap/cuFairgvNone/g' '$<TARGET_FILE:fairgv-softcuda>' > '${unplaced_driver}'"
    COMMENT "The software driver without its places of memory")
  add_custom_target(unplaced_driver DEPENDS "${unplaced_driver}")
  add_dependencies(system_cuda_move_test unplaced_driver)
  target_compile_definitions(system_cuda_move_test PRIVATE FAIRGV_UNPLACED_DRIVER="${unplaced_driver}")
  fairgv_discover_tests(system_cuda_move_test PROPERTIES TIMEOUT 180)
endif()

# TimeGraph's specification, reserves, and the window in front, where X's library is there to build with.
add_executable(system_timegraph_test system/timegraph_test.cpp)
target_compile_definitions(system_timegraph_test PRIVATE FAIRGV_ICD="$<TARGET_FILE:fairgv-opencl>")
target_link_libraries(system_timegraph_test PRIVATE harness fairgv_session fairgv_warnings GTest::gtest_main nlohmann_json::nlohmann_json)
pkg_check_modules(xcb IMPORTED_TARGET xcb)
if(xcb_FOUND)
  target_sources(system_timegraph_test PRIVATE system/tools/focus_test.cpp)
  target_link_libraries(system_timegraph_test PRIVATE PkgConfig::xcb)
endif()
add_dependencies(system_timegraph_test opencl_flood fairgv fairgvd fairgv-vgpu fairgv-opencl computeLoop matrixMul)
fairgv_discover_tests(system_timegraph_test PROPERTIES TIMEOUT 180 RUN_SERIAL ON)

# Service levels and oversold devices.
add_executable(system_oversell_test system/oversell_test.cpp)
target_compile_definitions(system_oversell_test PRIVATE FAIRGV_ICD="$<TARGET_FILE:fairgv-opencl>")
target_link_libraries(system_oversell_test PRIVATE harness fairgv_warnings GTest::gtest_main nlohmann_json::nlohmann_json)
add_dependencies(system_oversell_test opencl_frames fairgv fairgvd fairgv-vgpu fairgv-opencl matrixMul)
fairgv_discover_tests(system_oversell_test PROPERTIES TIMEOUT 300 RUN_SERIAL ON)

# A device whose memory is lent, used by a program of the benchmarks.
if(FAIRGV_BUILD_BENCHMARKS)
  add_executable(system_oversubscription_test system/oversubscription_test.cpp)
  target_compile_definitions(system_oversubscription_test PRIVATE FAIRGV_ICD="$<TARGET_FILE:fairgv-opencl>")
  target_link_libraries(system_oversubscription_test PRIVATE harness fairgv_warnings GTest::gtest_main nlohmann_json::nlohmann_json)
  add_dependencies(system_oversubscription_test fairgv-probe-memory fairgv fairgvd fairgv-vgpu fairgv-opencl)
  fairgv_discover_tests(system_oversubscription_test PROPERTIES TIMEOUT 300 RUN_SERIAL ON)
endif()

# The commands in the pages, and the page that `fairgv bench all` writes.
add_executable(system_docs_test system/tools/docs_test.cpp system/tools/report_test.cpp)
target_link_libraries(system_docs_test PRIVATE harness fairgv_warnings GTest::gtest_main)
target_compile_definitions(system_docs_test PRIVATE
  FAIRGV_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
  FAIRGV_BENCHMARKS=$<BOOL:${FAIRGV_BUILD_BENCHMARKS}>)
add_dependencies(system_docs_test fairgv fairgvd fairgv-vgpu fairgv-opencl)
fairgv_discover_tests(system_docs_test PROPERTIES TIMEOUT 180 RUN_SERIAL ON)

# The answers of each driver of the machine where it may choose, and the answers that a tenant gets.
add_executable(driver_behaviours
  behaviours/events.cpp
  behaviours/launches.cpp
  behaviours/main.cpp
  behaviours/memory.cpp
  behaviours/objects.cpp
  behaviours/wrong_commands.cpp
  behaviours/wrong_objects.cpp)
target_include_directories(driver_behaviours PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(driver_behaviours PRIVATE OpenCL::OpenCL Threads::Threads fairgv_warnings)
add_executable(system_drivers_test system/drivers_test.cpp)
target_link_libraries(system_drivers_test PRIVATE harness fairgv_warnings GTest::gtest_main nlohmann_json::nlohmann_json)
add_dependencies(system_drivers_test driver_behaviours fairgv fairgvd fairgv-vgpu fairgv-opencl)
fairgv_discover_tests(system_drivers_test LONG "*WhereNoBufferIsReachedDirectly" "*CutAtRandom" PROPERTIES TIMEOUT 600)
