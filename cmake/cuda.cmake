# nvcc as a language of the project. Without DEPTHCOST_CUDA nothing here is read.
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  message(FATAL_ERROR "DEPTHCOST_CUDA needs nvcc (not found; set CUDACXX or put it on PATH)")
endif()
enable_language(CUDA)

# CMake 3.25 does not know C++20 for nvcc ("requires the language dialect CUDA20").
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
