// Every number is one that another section has in full.
#include "reports/topics/side_by_side/side_by_side_section.hpp"

#include <fmt/format.h>

#include "model/decision/published_quality.hpp"
#include "model/decision/quality.hpp"
#include "model/ledger/path_operations.hpp"
#include "model/schemes/list.hpp"
#include "reports/formats/numbers.hpp"

namespace depthcost {
namespace side_by_side_section {
namespace {

/// Kernels and collectives of one forward pass, folded ones left out.
double num_launches(const Evaluation& e, const ResidualPath& path) {
  double launches = 0;
  for (const auto& [operation, calls] : distinct_operations(path, quoted_schedule(e.study, path)))
    launches += as_double(calls) * operation.launches;
  return launches;
}

std::string weights_text(const Evaluation& e, const ResidualPath& path) {
  const double elements = parameters(path, as_double(e.study.model.hidden_size)).total;
  if (elements == 0) return std::string(kNothing);
  return fmt::format("{:.4g} M, {}", elements / 1e6, format_bytes(scheme_weights(e.study, path)));
}

/// What lies between layers, and what the fullest pipeline boundary hands over.
std::string state_text(const Evaluation& e, std::size_t path) {
  const std::string kept =
      format_d(as_double(largest_state(e.paths[path].scheme, e.paths[path].num_layers)));
  if (!e.pipeline) return kept;
  return fmt::format("{}, {}", kept, format_d(as_double(e.pipeline->by_scheme[path].cached.peak)));
}

/// "1.755 by size, 1.746 by number" where a block size and a number of blocks read different
/// losses.
std::string loss_text(const Scheme& scheme) {
  const QualityEvidence quality = quality_of(scheme);
  const std::optional<double> loss = quality.at_most();
  if (!loss) return std::string(kNothing);
  if (quality.agrees() || !quality.by_size.loss || !quality.by_count.loss)
    return fmt::format("{:.3f}", *loss);
  return fmt::format("{:.3f} by size, {:.3f} by number", *quality.by_size.loss,
                     *quality.by_count.loss);
}

constexpr std::string_view kCounts =
    "Weights: the scheme's parameters, and their bytes on the tensor ranks of all stages. Operations and `d a layer`: "
    "per token; the d-vectors that a whole forward pass reads and writes, divided by the layers. That "
    "includes what stands before the first layer and behind the last. "
    "State: d-vectors kept between two layers; after the comma, the largest message between pipeline "
    "stages with caching.";

constexpr std::string_view kQuality =
    "The losses are those of a 436M model ([attnres] Fig. 6 and Table 4), not of yours. By size is the "
    "loss of the same block size, by number that of the same number of blocks. The paper calls its "
    "mHC mHC(-lite). The speed-up is that of marin-community/marin issue 9290 (2026-09-20): compute "
    "saved at equal loss, times the ratio of throughputs; above 1 is a gain. It does not say which "
    "form of AttnRes it runs. Where nothing is published, nothing is predicted here.";

}  // namespace

void write_markdown(Document& out) {
  const Evaluation& e = out.evaluation();
  if (e.paths.size() < 2) return;
  out.heading("Side by side");
  out.table(side_by_side_table(e));
  out.paragraph(std::string(kCounts));
  if (const Table quality = published_quality_table(e); !quality.rows.empty()) {
    out.table(quality);
    out.paragraph(std::string(kQuality));
  }
}

void write_table(std::string& text, const Answer& answer) {
  const Evaluation& e = answer.evaluation;
  if (e.paths.size() < 2) return;
  append_table(text, "Side by side", side_by_side_table(e));
  if (const Table quality = published_quality_table(e); !quality.rows.empty())
    append_table(text, "Published quality", quality);
}

}  // namespace side_by_side_section

using namespace side_by_side_section;

Table side_by_side_table(const Evaluation& e) {
  Table table{{"scheme", right("weights"), right("operations"), right("d a layer, ends included"),
               right("launches"), right("state")}};
  for (std::size_t i = 0; i < e.paths.size(); ++i) {
    const ResidualPath& path = e.paths[i];
    const Schedule schedule = quoted_schedule(e.study, path);
    const double layers = as_double(path.num_layers);
    table.add(name(path.scheme), weights_text(e, path),
              format_flops(total_flops(path, schedule, as_double(e.study.model.hidden_size))),
              fmt::format("{:.4g}",
                          total_d(forward_traffic(path, {schedule, Convention::kernel})) / layers),
              format_count(static_cast<Count>(num_launches(e, path))), state_text(e, i));
  }
  return table;
}

Table published_quality_table(const Evaluation& e) {
  Table table{{"scheme", right("loss"), right("speed-up, d = 512"), right("speed-up, d = 768")}};
  bool is_any_known = false;
  for (const ResidualPath& path : e.paths) {
    const std::optional<AdjustedSpeedup> speedup = published_speedup(path.scheme);
    const std::string loss = loss_text(path.scheme);
    if (!is_standard(path.scheme)) is_any_known = is_any_known || speedup || loss != kNothing;
    const auto text = [&](double AdjustedSpeedup::*at) {
      return speedup ? fmt::format("{:.2f}", (*speedup).*at) : std::string(kNothing);
    };
    table.add(name(path.scheme), loss, text(&AdjustedSpeedup::at_512),
              text(&AdjustedSpeedup::at_768));
  }
  if (!is_any_known) table.rows.clear();
  return table;
}

}  // namespace depthcost
