// Properties of the time of every operation, token count and launch on any device.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "model/machine/time.hpp"
#include "model/operations/attnres_operations.hpp"
#include "model/step/step.hpp"
#include "tests/model/machine/any_machine.hpp"
#include "tests/model/machine/launch_time.hpp"
#include "tests/studies.hpp"

namespace depthcost::time_properties_test {
namespace {

/// Rounding of sums of a few products.
constexpr double kRounding = 1e-12;

bool at_most(Seconds a, Seconds b) { return a.value <= b.value * (1 + kRounding); }

std::optional<Bytes> any_layer_bytes() {
  if (*rc::gen::arbitrary<bool>()) return std::nullopt;
  return Bytes{test::any_real(0, 500e6)};
}

Execution any_execution(double bank_age_of_path) {
  return {.tokens = test::any_tokens(),
          .launch = test::any_launch(),
          .storage = {.hidden_size = static_cast<double>(*rc::gen::inRange<Count>(1, 8192)),
                      .dtype = *rc::gen::element(Dtype::bf16, Dtype::f32),
                      .phase1_dtype = *rc::gen::element(Dtype::bf16, Dtype::f32)},
          .layer_bytes = any_layer_bytes(),
          .bank_age = bank_age_of_path};
}

struct AnyLaunches {
  Machine machine = test::any_machine();
  ResidualPath path = test::any_path(12);
  Schedule schedule = test::any_schedule(path.scheme);
  Execution execution = any_execution(bank_age(path.scheme, schedule));
  std::vector<CountedOperation> operations = distinct_operations(path, schedule);
};

template <class Visit>
void each_corner(const Visit& visit) {
  for (const IntervalEnd floor : kEnumerators<IntervalEnd>)
    for (const IntervalEnd bandwidth : kEnumerators<IntervalEnd>)
      for (const IntervalEnd residency : kEnumerators<IntervalEnd>)
        for (const IntervalEnd kernels : kEnumerators<IntervalEnd>)
          visit(Corner{floor, bandwidth, residency, kernels});
}

Seconds total(const AnyLaunches& any, const Operation& operation, const Execution& execution,
              const Corner& corner) {
  return test::time_terms(any.machine, operation, execution, corner).total();
}

RC_GTEST_PROP(Time, IsNeverBelowItsBoundAtAnyCorner, ()) {
  const AnyLaunches any;
  for (const auto& [operation, calls] : any.operations) {
    const Seconds bound = test::bound_time(any.machine, operation, any.execution);
    RC_ASSERT(bound.value >= 0);
    each_corner([&, op = operation](const Corner& corner) {
      RC_ASSERT(at_most(bound, total(any, op, any.execution, corner)));
    });
  }
}

RC_GTEST_PROP(Time, IsTheSameAtEveryCornerHoweverManyAreAskedFor, ()) {
  const AnyLaunches any;
  for (const auto& [operation, calls] : any.operations) {
    const LaunchTime launch(any.machine, operation, any.execution);
    const auto corners = launch.corner_terms();
    for (std::size_t i = 0; i < kCorners.size(); ++i) {
      const TimeTerms alone = launch.terms(kCorners[i]);
      RC_ASSERT(corners[i].floor == alone.floor);
      RC_ASSERT(corners[i].bytes == alone.bytes);
      RC_ASSERT(corners[i].operations == alone.operations);
      RC_ASSERT(corners[i].on_top == alone.on_top);
      RC_ASSERT(corners[i].token == alone.token);
    }
  }
}

RC_GTEST_PROP(Time, GrowsFromTheLowCornerOverTheMiddleToTheHighOne, ()) {
  const AnyLaunches any;
  for (const auto& [operation, calls] : any.operations) {
    Seconds before{0};
    for (const IntervalEnd end : kEnumerators<IntervalEnd>) {
      const Seconds now = total(any, operation, any.execution, {end, end, end, end});
      RC_ASSERT(at_most(before, now));
      before = now;
    }
  }
}

RC_GTEST_PROP(Time, DoesNotFallWithMoreTokens, ()) {
  const AnyLaunches any;
  Execution more = any.execution;
  more.tokens += test::any_tokens();
  for (const auto& [operation, calls] : any.operations) {
    RC_ASSERT(at_most(test::bound_time(any.machine, operation, any.execution),
                      test::bound_time(any.machine, operation, more)));
    each_corner([&, op = operation](const Corner& corner) {
      RC_ASSERT(at_most(total(any, op, any.execution, corner), total(any, op, more, corner)));
    });
  }
}

RC_GTEST_PROP(Time, DoesNotFallWithMoreBytesBetweenTwoUses, ()) {
  AnyLaunches any;
  any.execution.layer_bytes = Bytes{test::any_real(0, 500e6)};
  Execution more = any.execution;
  more.layer_bytes = *any.execution.layer_bytes + Bytes{test::any_real(0, 500e6)};
  Execution older = any.execution;
  older.bank_age += 1;
  Execution unknown = any.execution;
  unknown.layer_bytes.reset();
  for (const auto& [operation, calls] : any.operations) {
    each_corner([&, op = operation](const Corner& corner) {
      const Seconds time = total(any, op, any.execution, corner);
      RC_ASSERT(at_most(time, total(any, op, more, corner)));
      RC_ASSERT(at_most(time, total(any, op, older, corner)));
    });
    // Not knowing is the worst in the middle, and the best at the low end.
    RC_ASSERT(at_most(total(any, operation, more, {}), total(any, operation, unknown, {})));
    const Corner best{IntervalEnd::value, IntervalEnd::value, IntervalEnd::low};
    RC_ASSERT(
        at_most(total(any, operation, unknown, best), total(any, operation, any.execution, best)));
  }
}

RC_GTEST_PROP(Time, WaitsForAllButTheLaterQueriesOfPhase1, ()) {
  const AnyLaunches any;
  for (const auto& [operation, calls] : any.operations) {
    const TimeTerms terms = test::time_terms(any.machine, operation, any.execution, {});
    const Seconds critical = critical_time(operation, any.execution, terms);
    const bool has_later_queries = traffic(operation).phase1_d > 0;
    if (operation.id == operations::kAttnresPhase1 && has_later_queries)
      RC_ASSERT(critical < terms.total());
    else
      RC_ASSERT(critical == terms.total());
    RC_ASSERT(at_most(terms.floor, critical));
  }
}

RC_GTEST_PROP(TimeRows, AreOrderedFromBoundToHighEnd, ()) {
  Study study = test::kimi_k3_study();
  study.machine = test::any_machine();
  study.path = test::any_path(12);
  study.pipeline.reset();
  study.decode->sequences = {static_cast<Count>(test::any_tokens())};
  study.decode->launch = test::any_launch();
  study.decode->layer_bytes = any_layer_bytes();
  study.prefill->launch = test::any_launch();
  const Schedule schedule = test::any_schedule(study.path.scheme);
  const StepTimes times = step_times(study, study.path, schedule);
  RC_ASSERT(!times.time.empty());
  for (const TimeRow& row : times.time) {
    RC_ASSERT(at_most(row.bound, row.predicted.low));
    RC_ASSERT(row.predicted.low <= row.predicted.value);
    RC_ASSERT(row.predicted.value <= row.predicted.high);
    RC_ASSERT(0 <= row.memory_share && row.memory_share <= 1);
  }
}

}  // namespace
}  // namespace depthcost::time_properties_test
