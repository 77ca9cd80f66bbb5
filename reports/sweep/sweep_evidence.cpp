// Fig. 4, Fig. 6, Fig. 7, Tables 2 and 4: in JSON and as Markdown.
#include "reports/sweep/sweep_evidence.hpp"

#include <fmt/format.h>

#include "model/decision/published_quality.hpp"
#include "model/decision/scaling.hpp"
#include "model/training/figure7.hpp"
#include "reports/formats/text_table.hpp"

namespace depthcost {
namespace {

constexpr std::array kFitted{FittedScheme::baseline, FittedScheme::block_attnres,
                             FittedScheme::full_attnres};

constexpr std::string_view kFigure4Conditions =
    "[attnres] Fig. 4, Sec. 5.1: five sizes of mixtures of experts, hyperparameters the baseline's "
    "best, Block AttnRes with about 8 blocks, context 8192; C in PFLOP/s-days, coefficients of three "
    "digits";
constexpr std::string_view kTable2Conditions =
    "[attnres] Table 2: active parameters in millions, tokens in billions, Block AttnRes with 8 "
    "blocks, mHC(-lite); its compute is not 6 N D";
constexpr std::string_view kFigure7Conditions =
    "[attnres] Fig. 7: 6.5e19 operations, 2.3e8 active parameters; rows are heads, columns width, "
    "each over decoder layers";

PowerLaw baseline_fit() { return published_fit(FittedScheme::baseline); }

void write_fits(JsonWriter& json, double compute) {
  json.object("figure4", [&] {
    json.member("conditions", kFigure4Conditions);
    json.member("fitted_from", kLeastFittedCompute);
    json.member("fitted_to", kMostFittedCompute);
    for (const FittedScheme scheme : kFitted)
      json.object(name(scheme), [&] {
        const PowerLaw law = published_fit(scheme);
        const Estimate<double> advantage = compute_advantage(scheme, compute);
        json.member("a", law.a);
        json.member("exponent", law.exponent);
        if (scheme == FittedScheme::baseline) return;
        json.member("compute", compute);
        json.member("inside_fit", is_inside_fit(compute));
        const auto if_inside = [&](double value) {
          return is_inside_fit(compute) ? std::optional(value) : std::nullopt;
        };
        json.member("equivalent_compute",
                    if_inside(equivalent_compute(baseline_fit(), law, compute)));
        json.member("advantage_low", if_inside(advantage.low));
        json.member("advantage", if_inside(advantage.value));
        json.member("advantage_high", if_inside(advantage.high));
      });
  });
}

void write_table2(JsonWriter& json) {
  json.object("table2", [&] {
    json.member("conditions", kTable2Conditions);
    json.objects("rows", kTable2, [&](const ModelSizeLoss& row) {
      json.member("active_parameters", row.active_parameters);
      json.member("tokens", row.tokens);
      json.member("decoder_layers", row.decoder_layers);
      json.member("hidden_size", row.hidden_size);
      json.member("baseline", row.baseline);
      json.member("block_attnres", row.block);
      json.member("full_attnres", row.full);
      json.member("mhc", row.mhc);
    });
  });
}

void write_figure7(JsonWriter& json) {
  json.object("figure7", [&] {
    json.member("conditions", kFigure7Conditions);
    const auto grid = [&](std::string_view key, const Figure7& losses) {
      json.array(key, [&] {
        for (std::size_t h = 0; h < losses.size(); ++h)
          for (std::size_t w = 0; w < losses[h].size(); ++w)
            json.object([&] {
              json.member("heads", kFigure7Heads[h]);
              json.member("width", kFigure7Widths[w]);
              json.member("loss", losses[h][w]);
            });
      });
    };
    grid("baseline", kFigure7Baseline);
    grid("attnres", kFigure7AttnRes);
  });
}

std::string loss(double value) { return fmt::format("{:.3f}", value); }

std::string figure6_markdown() {
  Table table{{right("block size S"), right("blocks"), right("loss")}};
  for (const BlockSizeLoss& point : kFigure6)
    table.add(std::to_string(point.block_size), std::to_string(kFigure6Layers / point.block_size),
              loss(point.loss));
  return fmt::format("{}. Baseline {}.\n\n{}\n", kFigure6Conditions, loss(kFigure6Baseline),
                     markdown(table));
}

std::string table2_markdown() {
  Table table{{right("active"), right("tokens"), right("L"), right("baseline"), right("Block"),
               right("Full"), right("mHC(-lite)")}};
  for (const ModelSizeLoss& row : kTable2)
    table.add(fmt::format("{}M", row.active_parameters), fmt::format("{:.1f}B", row.tokens),
              std::to_string(2 * row.decoder_layers), loss(row.baseline), loss(row.block),
              loss(row.full), loss(row.mhc));
  return fmt::format("{}.\n\n{}\n", kTable2Conditions, markdown(table));
}

std::string table4_markdown() {
  Table table{{"ablation", right("loss")}};
  for (const AblationLoss& row : kTable4) table.add(std::string(row.name), loss(row.loss));
  return fmt::format("[attnres] Table 4, the model of Fig. 6.\n\n{}\n", markdown(table));
}

std::string figure7_markdown() {
  Table table{{"heads"}};
  for (const double width : kFigure7Widths)
    table.columns.push_back(right(fmt::format("width {}", width)));
  for (std::size_t h = 0; h < kFigure7Heads.size(); ++h) {
    std::vector<std::string> row{fmt::format("{}", kFigure7Heads[h])};
    for (std::size_t w = 0; w < kFigure7Widths.size(); ++w)
      row.push_back(
          fmt::format("{} -> {}", loss(kFigure7Baseline[h][w]), loss(kFigure7AttnRes[h][w])));
    table.rows.push_back(std::move(row));
  }
  return fmt::format("{}; baseline -> AttnRes.\n\n{}\n", kFigure7Conditions, markdown(table));
}

std::string figure4_markdown(double compute) {
  Table table{{"scheme",
               right("loss"),
               {fmt::format("loss at {:.4g}", compute), Align::right},
               right("of the baseline for that"),
               right("advantage")}};
  for (const FittedScheme scheme : kFitted) {
    const PowerLaw law = published_fit(scheme);
    const Estimate<double> advantage = compute_advantage(scheme, compute);
    const bool is_baseline = scheme == FittedScheme::baseline;
    const auto if_inside = [&](const std::string& text) {
      return is_inside_fit(compute) ? text : "beyond the range of the fit";
    };
    const auto if_better = [&](const std::string& text) {
      return is_baseline ? "" : if_inside(text);
    };
    table.add(name(scheme), fmt::format("{:.3f} C^-{:.3f}", law.a, law.exponent),
              if_inside(loss(loss_at(law, compute))),
              if_better(fmt::format("{:.3f} PFLOP/s-days",
                                    equivalent_compute(baseline_fit(), law, compute))),
              if_better(fmt::format("{:.3f} [{:.3f}, {:.3f}]", advantage.value, advantage.low,
                                    advantage.high)));
  }
  return fmt::format("{}.\n\n{}\n", kFigure4Conditions, markdown(table));
}

}  // namespace

void write_evidence(JsonWriter& json, double compute) {
  json.object("evidence", [&] {
    write_fits(json, compute);
    json.object("figure6", [&] {
      json.member("conditions", kFigure6Conditions);
      json.objects("points", kFigure6, [&](const BlockSizeLoss& point) {
        json.member("block_size", point.block_size);
        json.member("loss", point.loss);
      });
    });
    write_table2(json);
    json.object("table4", [&] {
      json.member("conditions", kFigure6Conditions);
      for (const AblationLoss& row : kTable4) json.member(row.name, row.loss);
    });
    write_figure7(json);
  });
}

std::string evidence_markdown(double compute) {
  return "## What is published about losses\n\n" + figure6_markdown() + figure4_markdown(compute) +
         table2_markdown() + table4_markdown() + figure7_markdown();
}

}  // namespace depthcost
