#include "kernels/operations/altup.hpp"

#include "kernels/operations/bf16.hpp"
#include "kernels/operations/regions.hpp"

namespace depthcost {
namespace {

void check_copies(const Regions& regions, std::size_t hidden_size, std::size_t num_copies) {
  regions.at_least_one("hidden_size", hidden_size);
  regions.at_least_one("num_copies", num_copies);
}

void reads_router(Regions& regions, const BasicAltupRouter<float>& router, std::size_t num_copies,
                  std::size_t hidden_size) {
  regions.reads_inner("router.matrix", router.matrix, {num_copies, hidden_size});
  regions.reads_inner("router.gain", router.norm.gain, {hidden_size});
}

}  // namespace

template <class T>
void check(const AltupPredict<T>& op) {
  const std::size_t A = op.num_copies;
  Regions regions("altup_predict");
  check_copies(regions, op.hidden_size, A);
  regions.writes("copies", op.copies, {op.num_tokens, A, op.hidden_size});
  reads_router(regions, op.router, A, op.hidden_size);
  regions.reads_inner("coefficients", op.coefficients, {A, A, A});
  regions.reads_inner("gain", op.norm.gain, {op.hidden_size});
  regions.writes("output", op.output, {op.num_tokens, op.hidden_size});
  regions.finish();
}

template <class T>
void check(const AltupLaurel<T>& op) {
  Regions regions("altup_laurel");
  regions.at_least_one("hidden_size", op.hidden_size);
  regions.at_least_one("rank", op.rank);
  regions.reads("input", op.input, {op.num_tokens, op.hidden_size});
  regions.reads_inner("down", op.down, {op.rank, op.hidden_size});
  regions.reads_inner("up", op.up, {op.hidden_size, op.rank});
  regions.reads_inner("gain", op.norm.gain, {op.hidden_size});
  regions.writes("output", op.output, {op.num_tokens, op.hidden_size});
  regions.finish();
}

template <class T>
void check(const AltupMiddle<T>& op) {
  Regions regions("altup_middle");
  check_copies(regions, op.hidden_size, op.num_copies);
  regions.reads("copies", op.copies, {op.num_tokens, op.num_copies, op.hidden_size});
  regions.reads("layer_output", op.layer_output, {op.num_tokens, op.hidden_size});
  regions.writes("laurel", op.laurel, {op.num_tokens, op.hidden_size});
  regions.reads_inner("output_gain", op.output_norm.gain, {op.hidden_size});
  regions.reads_inner("gain", op.norm.gain, {op.hidden_size});
  regions.writes("output", op.output, {op.num_tokens, op.hidden_size});
  regions.finish();
}

template <class T>
void check(const AltupCorrect<T>& op) {
  const std::size_t A = op.num_copies;
  Regions regions("altup_correct");
  check_copies(regions, op.hidden_size, A);
  regions.writes("copies", op.copies, {op.num_tokens, A, op.hidden_size});
  regions.reads("layer_output", op.layer_output, {op.num_tokens, op.hidden_size});
  regions.reads("middle", op.middle, {op.num_tokens, op.hidden_size});
  regions.reads_inner("output_gain", op.output_norm.gain, {op.hidden_size});
  reads_router(regions, op.router, A, op.hidden_size);
  regions.reads_inner("coefficients", op.coefficients, {A, A});
  regions.finish();
}

template void check(const AltupPredict<float>&);
template void check(const AltupPredict<Bf16>&);
template void check(const AltupLaurel<float>&);
template void check(const AltupLaurel<Bf16>&);
template void check(const AltupMiddle<float>&);
template void check(const AltupMiddle<Bf16>&);
template void check(const AltupCorrect<float>&);
template void check(const AltupCorrect<Bf16>&);

}  // namespace depthcost
