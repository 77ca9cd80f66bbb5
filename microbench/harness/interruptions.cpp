// getrusage counts switches; /proc/stat has the stolen ticks of all CPUs in its first line.
#include "microbench/harness/interruptions.hpp"

#include <sys/resource.h>

#include <fstream>
#include <string>

namespace depthcost::bench {
namespace {

long stolen_ticks() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  long user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
  file >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
  return file ? steal : 0;
}

}  // namespace

long interruptions() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw + stolen_ticks();
}

}  // namespace depthcost::bench
