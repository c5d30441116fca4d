# FAIRGV_SANITIZE=address | thread | fuzzer: what the asan, tsan and fuzz presets set.
#
# Clang compiles what asan and tsan watch, in less than half of GCC's time. The run-time libraries are GCC's all the same:
# they are shared ones that every process finds, and programs that know nothing of us load our libraries.
set(FAIRGV_SANITIZE "" CACHE STRING "address (with undefined), thread, fuzzer (clang's, with both of the first), or empty")
set(FAIRGV_SANITIZER_LIBRARIES "")
if(FAIRGV_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  set(FAIRGV_SANITIZER_LIBRARIES -lasan -lubsan)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # GCC's library does not know it, and GCC, which assembles, not even the name.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=function>)
    add_compile_definitions(__SANITIZE_ADDRESS__)  # as GCC does
  endif()
elseif(FAIRGV_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  set(FAIRGV_SANITIZER_LIBRARIES -ltsan)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_definitions(__SANITIZE_THREAD__)  # as GCC does
  endif()
elseif(FAIRGV_SANITIZE STREQUAL "fuzzer")
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "libFuzzer is clang's: use the preset fuzz, or CMAKE_CXX_COMPILER=clang++")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(NOT FAIRGV_SANITIZE STREQUAL "")
  message(FATAL_ERROR "FAIRGV_SANITIZE is '${FAIRGV_SANITIZE}': use address, thread, fuzzer, or nothing")
endif()

# They come before all other libraries: what they intercept must be found in them first.
if(FAIRGV_SANITIZER_LIBRARIES)
  add_link_options(-Wl,--push-state,--no-as-needed ${FAIRGV_SANITIZER_LIBRARIES} -Wl,--pop-state)
endif()

# With sanitizers GCC 12 takes parts of its own std::function for uninitialized (std::regex shows it).
if(FAIRGV_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-maybe-uninitialized)
endif()
