# The vector instructions that x86-64 kernels may always use. Highway compiles a kernel once for these
# and once for each better set, and takes the best at run time: kernels/cpu/primitives/targets.hpp.
# Without DEPTHCOST_PORTABLE a machine with AVX2 compiles nothing for older ones, a fifth of the time of
# the kernels.
option(DEPTHCOST_PORTABLE "Let kernels that are built here run on x86-64 machines without AVX2, too" OFF)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(vector_flags -mssse3)
  set(least_target HWY_SSSE3)
  if(NOT DEPTHCOST_PORTABLE AND NOT CMAKE_CROSSCOMPILING)
    include(CheckCXXSourceRuns)
    check_cxx_source_runs([[
      int main() {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                       __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                       __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul")
                   ? 0
                   : 1;
      }]] DEPTHCOST_RUNS_AVX2)
    if(DEPTHCOST_RUNS_AVX2)
      set(vector_flags -march=x86-64-v3 -maes -mpclmul)
      set(least_target HWY_AVX2)
    endif()
  endif()
endif()
