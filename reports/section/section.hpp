// What a section of the answer is: the same topic in every format. reports/documents/sections.cpp
// lists all of them.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/resolved_value.hpp"
#include "model/evaluation/evaluation.hpp"
#include "reports/formats/json_writer.hpp"
#include "reports/section/csv_lines.hpp"
#include "reports/section/document.hpp"
#include "reports/section/explanation.hpp"
#include "reports/section/plot.hpp"

namespace depthcost {

/// Whether the JSON has a row for each launch: most of it.
enum class LaunchRows { written, left_out };

/// What JSON, CSV and the terminal's tables are written from.
struct Answer {
  const Evaluation& evaluation;
  std::span<const LedgerRow> layers = {};      // of `--layers`
  std::span<const ResolvedValue> values = {};  // what the scenario says
  LaunchRows launches = LaunchRows::written;
};

/// Numbers for programs. A null pointer: the format does not show the section.
struct DataSection {
  void (*json)(JsonWriter& json, const Answer& answer) = nullptr;  // members of the document
  void (*csv)(CsvLines& csv, const Answer& answer) = nullptr;
  void (*explain)(const Evaluation& evaluation, Explanations& out) = nullptr;
};

/// A plot; nothing where the evaluation has no data for it.
using PlotFunction = std::optional<Plot> (*)(const Evaluation& evaluation);

/// Where a section of text stands: on the first pages, or in the appendix of a report and behind
/// `evaluate --details`.
enum class Depth { summary, details };

/// Without a timed step the tables of bytes are the answer, and stand in the report itself.
inline bool has_appendix(const Evaluation& evaluation) { return !evaluation.step.empty(); }

/// Text for people. A null pointer: the format does not show the section.
struct TextSection {
  Depth depth = Depth::details;
  void (*markdown)(Document& out) = nullptr;
  void (*table)(std::string& text, const Answer& answer) = nullptr;  // appends to the terminal's
  std::array<PlotFunction, 2> plots = {};
};

/// The workload points of some rows, each once, in order.
template <class Rows>
std::vector<WorkloadId> workloads_of_rows(const Rows& rows) {
  std::vector<WorkloadId> workloads;
  for (const auto& row : rows)
    if (std::find(workloads.begin(), workloads.end(), row.workload) == workloads.end())
      workloads.push_back(row.workload);
  return workloads;
}

/// Their names, in the same order.
inline std::vector<std::string> workload_names(const std::vector<WorkloadId>& workloads) {
  std::vector<std::string> names;
  for (const WorkloadId workload : workloads) names.push_back(name(workload));
  return names;
}

/// A heading of the terminal's tables and its table behind `text`.
inline void append_table(std::string& text, std::string_view heading, const Table& table) {
  text += "\n" + std::string(heading) + "\n\n" + plain_text(table);
}

}  // namespace depthcost
