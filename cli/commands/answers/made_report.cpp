// Evaluates, draws, and writes the two documents.
#include "cli/commands/answers/made_report.hpp"

#include <filesystem>

#include "cli/output/plot_files.hpp"
#include "cli/output/version.hpp"
#include "profile/nearest_kernels.hpp"
#include "reports/documents/answer_documents.hpp"
#include "reports/topics/decision/decision_section.hpp"

namespace depthcost {

Report made_report(const Scenario& scenario, const std::string& stem,
                   const MeasuredByOthers& published, Progress& progress) {
  const Evaluation evaluation = evaluate_with_family(scenario.study);
  const std::vector<Plot> to_draw = plots(evaluation);
  progress.count();
  progress.expected = progress.expected + to_draw.size() - kUsualPlots;
  DrawnPlots drawn = draw(to_draw, stem, progress);
  const ReportParts parts{.values = scenario.values,
                          .plots = drawn.shown,
                          .missing_plots = drawn.missing,
                          .program_version = kVersion,
                          .measured = profile::measured_kernels(scenario, evaluation),
                          .published = published.kernels,
                          .published_steps = published.steps,
                          .stem = std::filesystem::path(stem).filename().string()};
  Report report{.files = std::move(drawn.files),
                .summary = decision_text(evaluation, parts),
                .missing_plots = drawn.missing};
  if (const std::string appendix = markdown_appendix(evaluation, parts); !appendix.empty())
    report.files.push_back({stem + "-appendix.md", appendix});
  report.files.push_back({stem + ".md", markdown_report(evaluation, parts)});
  return report;
}

}  // namespace depthcost
