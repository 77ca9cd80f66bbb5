// The study's decode workload at more batches than it asks for.
#include "reports/topics/time/batch_curves.hpp"

#include <algorithm>

#include "model/schemes/list.hpp"
#include "model/step/step.hpp"
#include "reports/formats/gnuplot_script.hpp"

namespace depthcost {
namespace {

/// The study's batches and all powers of two between them, rising.
std::vector<Count> dense_batches(const std::vector<Count>& asked) {
  const auto [low, high] = std::minmax_element(asked.begin(), asked.end());
  std::vector<Count> batches = plotting::powers_of_two(*low, *high);
  batches.insert(batches.end(), asked.begin(), asked.end());
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

/// Whether the user has measured the batches one by one: nothing is known between them.
bool is_measured_by_batch(const Study& study) {
  return study.decode->baseline_steps.size() > 1 ||
         std::any_of(study.written_terms.begin(), study.written_terms.end(),
                     [](const WrittenTerm& term) { return term.seconds.size() > 1; });
}

/// The decode workload at every batch of the curves.
Study dense_study(const Study& study, CurveBaseline baseline) {
  Study dense = study;
  dense.prefill.reset();
  if (baseline == CurveBaseline::modelled) {
    dense.decode->baseline_steps.clear();
    dense.written_terms.clear();
  }
  if (!is_measured_by_batch(dense))
    dense.decode->sequences = dense_batches(study.decode->sequences);
  return dense;
}

}  // namespace

std::vector<BatchCurve> batch_curves(const Evaluation& evaluation, CurveBaseline baseline) {
  const Study& study = evaluation.study;
  std::vector<BatchCurve> curves;
  if (!study.machine || !study.decode || study.decode->sequences.empty()) return curves;
  const std::vector<Count>& asked = study.decode->sequences;
  const Study dense = dense_study(study, baseline);
  for (const ResidualPath& path : evaluation.paths) {
    if (is_standard(path.scheme)) continue;
    BatchCurve& curve = curves.emplace_back(BatchCurve{&path, quoted_schedule(study, path), {}});
    for (StepRow& row : step_rows(dense, path, curve.schedule)) {
      row.path = &path;
      const bool is_asked =
          std::find(asked.begin(), asked.end(), row.workload.sequences) != asked.end();
      curve.points.push_back({std::move(row), is_asked});
    }
    std::sort(curve.points.begin(), curve.points.end(),
              [](const BatchPoint& a, const BatchPoint& b) {
                return a.row.workload.sequences < b.row.workload.sequences;
              });
  }
  return curves;
}

}  // namespace depthcost
