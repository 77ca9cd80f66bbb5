// What libFuzzer calls. DEPTHCOST_FUZZ_TARGET names the target.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/target.hpp"
#include "tests/fuzz/targets.hpp"

namespace {

const depthcost::fuzz::Target& chosen() {
  const char* name = std::getenv("DEPTHCOST_FUZZ_TARGET");
  for (const depthcost::fuzz::Target& target : depthcost::fuzz::targets())
    if (name != nullptr && target.name == name) return target;
  depthcost::fuzz::require(false, "DEPTHCOST_FUZZ_TARGET names no target");
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const depthcost::fuzz::Target& target = chosen();
  target.run({reinterpret_cast<const char*>(data), size});
  return 0;
}
