// The CUDA benchmarks of bench_ceilings, bench_kernels and bench_skeletons in one program.
#include "microbench/harness/program.hpp"

int main(int argc, char** argv) {
  return depthcost::bench::run_program(argc, argv, [] {});
}
