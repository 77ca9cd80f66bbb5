// What this machine's memory can do, mix by mix: the most that any variant of a kernel that only
// moves bytes reaches. The mixes are those of the kernels.
#include <fmt/format.h>

#include <array>
#include <set>

#include "microbench/cpu.hpp"
#include "microbench/mix.hpp"
#include "microbench/plan.hpp"
#include "microbench/program.hpp"
#include "microbench/shapes.hpp"
#include "microbench/streams.hpp"

namespace depthcost::bench {
namespace {

using Order = StreamVariant::Order;
using Stores = StreamVariant::Stores;

std::string name(StreamVariant variant) {
  const std::string order =
      variant.order == Order::by_lines ? fmt::format("by_lines/ahead:{}", variant.ahead) : "by_row";
  return order + (variant.stores == Stores::cached ? "/cached" : "/streaming");
}

/// All that a mix allows.
std::vector<StreamVariant> variants_of(const Mix& mix) {
  std::vector<StreamVariant> variants;
  for (const Stores stores : {Stores::cached, Stores::streaming}) {
    if (mix.writes == mix.in_place && stores == Stores::streaming) continue;
    for (const std::size_t ahead : {1024U, 3072U, 8192U})
      variants.push_back({Order::by_lines, stores, ahead});
    variants.push_back({Order::by_row, stores});
  }
  return variants;
}

std::uint64_t* take(Operands& operands) {
  return reinterpret_cast<std::uint64_t*>(operands.tensor<float>(1, kVectorBytes / sizeof(float)));
}

StreamCall make_streams(const Mix& mix, StreamVariant variant, Operands& operands) {
  StreamCall call{.size = kVectorBytes,
                  .inputs = {},
                  .outputs = {},
                  .in_place = mix.in_place,
                  .variant = variant};
  for (unsigned i = 0; i < mix.in_place; ++i) call.outputs.push_back(take(operands));
  call.inputs.assign(call.outputs.begin(), call.outputs.end());
  while (call.inputs.size() < mix.reads) call.inputs.push_back(take(operands));
  while (call.outputs.size() < mix.writes) call.outputs.push_back(take(operands));
  return call;
}

/// Runs `call` once more and looks at some words of every output.
bool is_right(const StreamCall& call) {
  const std::size_t words = call.size / sizeof(std::uint64_t);
  const std::array<std::size_t, 3> places{0, words / 3, words - 1};
  std::array<std::uint64_t, 3> expected{};
  for (std::size_t k = 0; k < places.size(); ++k)
    for (const std::uint64_t* input : call.inputs) expected[k] ^= input[places[k]];
  run_streams(call);
  for (std::size_t k = 0; k < places.size(); ++k)
    for (const std::uint64_t* output : call.outputs)
      if (output[places[k]] != expected[k]) return false;
  return true;
}

void run_case(benchmark::State& state, const Mix& mix, StreamVariant variant) {
  host_memory().reset();
  Operands operands(host_memory(), 1);
  std::vector<StreamCall> sets;
  while (operands.bytes() < rotation_bytes()) sets.push_back(make_streams(mix, variant, operands));
  std::size_t next = 0;
  const auto call = [&] { run_streams(sets[next++ % sets.size()]); };
  sample(state, calls_per_sample(call), call);
  if (!is_right(sets.front())) state.SkipWithError("wrong result");
  set_traffic(state, mix, static_cast<double>(kVectorBytes) * (mix.reads + mix.writes));
}

void add_all() {
  std::set<Mix> mixes;
  each_fused_case<float>(
      {.num_tokens = 1, .hidden_size = 1},
      [&](std::string_view, const Operation& model, auto) { mixes.insert(mix_of(model)); });
  for (const Mix& mix : mixes)
    for (const StreamVariant& variant : variants_of(mix))
      add_benchmark(fmt::format("cpu/ceiling/r:{}/w:{}/in_place:{}/{}", mix.reads, mix.writes,
                                mix.in_place, name(variant)),
                    [=](benchmark::State& state) { run_case(state, mix, variant); });
}

}  // namespace
}  // namespace depthcost::bench

int main(int argc, char** argv) {
  return depthcost::bench::run_program(argc, argv, depthcost::bench::add_all);
}
