// What bench_ceilings, bench_kernels and bench_skeletons have of CUDA, and nothing else.
#include "microbench/harness/program.hpp"

int main(int argc, char** argv) {
  return depthcost::bench::run_program(argc, argv, [] {});
}
