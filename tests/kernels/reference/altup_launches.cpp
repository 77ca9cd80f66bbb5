// Launches of AltUp with LAuReL, in front of both layers of a decoder layer.
#include "kernels/reference/altup.hpp"
#include "kernels/reference/without_kernels/altup.hpp"
#include "model/operations/altup_operations.hpp"
#include "model/operations/eager_operations.hpp"
#include "tests/kernels/reference/mechanism_launches.hpp"

namespace depthcost::test {
namespace {

/// Copies of the stream and the operands of both layers.
struct Copies : Layer {
  std::size_t A, r;
  Row h = draw(T * A * d), q = draw(T * d), M = draw(A * d), router_gain = draw(d);
  Row P = draw(A * A * A), C = draw(A * A), gain2 = draw(d), L = draw(r * d), R = draw(d * r);
  Row products = Row(T * (A - 1) * d, kNaN);

  Copies(Counter& with, const SchemeLayer& at)
      : Layer(with),
        A(static_cast<std::size_t>(at.parameters.num_streams)),
        r(static_cast<std::size_t>(at.parameters.rank)) {}

  BasicAltupRouter<double> router() const { return {M.data(), {.gain = router_gain.data()}}; }
  BasicNextNorm<double> output_norm() const { return {.gain = gain2.data()}; }
  Place copies() const { return place(Operand::streams, h); }
  Place middle() const { return place(Operand::recent, q); }

  void update(OperationId id, std::vector<Place> places, const auto& run) {
    steps.launch(id, std::move(places), run);
  }

  void correct() {
    const AltupCorrect<double> op{T,        d,       A, h.data(), f.data(), q.data(), output_norm(),
                                  router(), C.data()};
    update(operations::kAltupCorrect, {copies(), middle(), place(Operand::layer_output, f)},
           [&](CountingAccess& access) { reference::run(op, access); });
  }

  void entry() {
    const Row E = draw((A - 1) * d * d);
    steps.project(output(), E, {}, products, place(Operand::recent, products));
    const reference::AltupEntry<double> op{T, d, A, f.data(), products.data(), 1e-6, h.data()};
    steps.launch(operations::kUnfusedElementwise,
                 {copies(), place(Operand::recent, products), place(Operand::recent, f)},
                 [&](CountingAccess& access) { reference::altup_entry(op, access); });
  }

  void predict_and_branch() {
    const AltupPredict<double> op{T, d, A, h.data(), router(), P.data(), norm(), x.data()};
    update(operations::kAltupPredict, {copies(), place(Operand::layer_input, x)},
           [&](CountingAccess& access) { reference::run(op, access); });
    const AltupLaurel<double> laurel{T,       d, r, x.data(), L.data(), R.data(), output_norm(),
                                     q.data()};
    update(operations::kAltupLaurel, {middle(), place(Operand::layer_input, x)},
           [&](CountingAccess& access) { reference::run(laurel, access); });
  }
};

Rows altup(Counter& counter, const SchemeLayer& at, Schedule) {
  Copies b(counter, at);
  if (at.layer % 2 == 0) {
    const AltupMiddle<double> op{
        b.T, b.d, b.A, b.h.data(), b.f.data(), b.q.data(), b.output_norm(), b.norm(), b.x.data()};
    b.update(operations::kAltupMiddle,
             {b.copies(), b.middle(), place(Operand::layer_output, b.f),
              place(Operand::layer_input, b.x)},
             [&](CountingAccess& access) { reference::run(op, access); });
    return {b.x, b.q};
  }
  if (at.layer == 1)
    b.entry();
  else
    b.correct();
  b.predict_and_branch();
  return {b.x, b.h, b.q};
}

}  // namespace

Launchers altup_launchers() { return {{"altup", altup}}; }

}  // namespace depthcost::test
