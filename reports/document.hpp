// A Markdown document being written, section by section. Internal to reports/markdown*.cpp.
#pragma once

#include <string>
#include <string_view>

#include "reports/markdown_report.hpp"

namespace depthcost {

/// Plain text that must not end or restyle the brackets that it stands in.
std::string escaped(std::string_view text);

class Document {
 public:
  Document(const Evaluation& evaluation, const ReportParts& parts)
      : evaluation_(evaluation), parts_(parts) {}

  void heading(const std::string& text) { text_ += "\n## " + text + "\n\n"; }
  void paragraph(const std::string& text) { text_ += text + "\n\n"; }
  void table(const Table& table) { text_ += markdown(table) + "\n"; }
  void bullet(const std::string& text) { text_ += "- " + text + "\n"; }
  void end_list() { text_ += "\n"; }

  /// Whether there is a plot whose file name starts with the report's stem and ends with `name`.
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
