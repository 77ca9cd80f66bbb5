// Verdicts as outcomes and annotations.
#include "reports/comparison/comparison_gates.hpp"

#include <algorithm>
#include <cmath>

namespace depthcost {
namespace {

JunitOutcome outcome_of(const ComparedCase& compared) {
  if (compared.is_blocked()) return JunitOutcome::failed;
  return compared.comparison.agreement == Agreement::pass ? JunitOutcome::passed
                                                          : JunitOutcome::skipped;
}

std::string_view failure_type(Agreement agreement) {
  return agreement == Agreement::fail ? "mispredict" : name(agreement);
}

JunitCase junit_case(const ComparedCase& compared) {
  const Agreement agreement = compared.comparison.agreement;
  std::string message = verdict_text(compared);
  const bool is_only_reported = agreement == Agreement::fail && !compared.is_blocked();
  if (is_only_reported) message = "reported only: " + message;
  return {.name = compared.id,
          .class_name = compared.call.operation,
          .outcome = outcome_of(compared),
          .failure_type = std::string(failure_type(agreement)),
          .message = message,
          .output = message};
}

/// The error as a multiple of the tolerance. Impossible measurements come first.
double badness(const ComparedCase& compared) {
  const Comparison& comparison = compared.comparison;
  const double impossible = comparison.agreement == Agreement::impossible ? 1e6 : 0;
  return impossible + std::fabs(comparison.error) / std::max(comparison.tolerance, 1e-9);
}

}  // namespace

JunitSuite junit_suite(const ComparisonReport& report) {
  JunitSuite suite{.name = "depthcost compare",
                   .properties = {{"title", report.title},
                                  {"errors", error_line(report.cases)},
                                  {"verdicts", verdict_line(report.cases)}},
                   .cases = {}};
  if (!report.stale.empty()) suite.properties.emplace_back("stale", report.stale);
  for (const ComparedCase& compared : report.cases) suite.cases.push_back(junit_case(compared));
  return suite;
}

std::vector<Annotation> annotations(const ComparisonReport& report) {
  std::vector<const ComparedCase*> worst;
  for (const ComparedCase& compared : report.cases)
    if (compared.is_blocked() ||
        (compared.rule.blocks && compared.comparison.agreement == Agreement::ambiguous))
      worst.push_back(&compared);
  std::stable_sort(worst.begin(), worst.end(), [](const ComparedCase* a, const ComparedCase* b) {
    return badness(*a) > badness(*b);
  });
  std::vector<Annotation> lines;
  for (const ComparedCase* compared : worst)
    lines.push_back(
        {.level = compared->is_blocked() ? AnnotationLevel::error : AnnotationLevel::warning,
         .file = compared->file,
         .line = compared->line,
         .title = compared->id,
         .message = verdict_text(*compared)});
  return lines;
}

}  // namespace depthcost
