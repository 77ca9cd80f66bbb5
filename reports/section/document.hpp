// The Markdown report while its sections are being written.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/base/resolved_value.hpp"
#include "model/evaluation/evaluation.hpp"
#include "model/evaluation/measured_kernels.hpp"
#include "model/evaluation/nearest_measurement.hpp"
#include "reports/formats/text_table.hpp"
#include "reports/section/plot.hpp"

namespace depthcost {

/// What the report is made of besides the answer.
struct ReportParts {
  std::span<const ResolvedValue> values;
  std::span<const PlotFile> plots;
  std::string missing_plots;  // why there are none, if there are none
  std::string program_version;
  std::optional<MeasuredKernels> measured = {};  // where the hardware is a profile
  std::span<const ComparedCase> published = {};  // kernels of others, each with its prediction
  std::span<const MeasuredStep> published_steps = {};
  std::string stem = {};  // of the files, so that report and appendix name each other
};

class Document {
 public:
  Document(const Evaluation& evaluation, const ReportParts& parts)
      : evaluation_(evaluation), parts_(parts) {}

  void heading(const std::string& text) { text_ += "\n## " + text + "\n\n"; }
  void paragraph(const std::string& text) { text_ += text + "\n\n"; }
  /// Nothing where the text is empty.
  void optional_paragraph(const std::string& text) {
    if (!text.empty()) paragraph(text);
  }
  void table(const Table& table) { text_ += markdown(table) + "\n"; }
  void bullet(const std::string& text) { text_ += "- " + text + "\n"; }
  void end_list() { text_ += "\n"; }

  /// Whether there is a plot whose file name ends with `name`.
  bool has_plot(std::string_view name) const;
  /// That plot; nothing without it.
  void plot(std::string_view name);

  const Evaluation& evaluation() const { return evaluation_; }
  const ReportParts& parts() const { return parts_; }
  std::string take() { return std::move(text_); }

 private:
  const Evaluation& evaluation_;
  const ReportParts& parts_;
  std::string text_;
};

}  // namespace depthcost
