// Depth against width, in every format.
#include <fmt/format.h>

#include "model/training/shapes.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/topics/training/training_section.hpp"

namespace depthcost {
namespace {

constexpr const char* kHeading = "Deeper or wider";

std::string ratio_text(const TrainingShape& shape) {
  return fmt::format("{:.4g}{}", shape.width_per_block, shape.is_own ? ", own" : "");
}

std::string loss_text(const TrainingShape& shape) {
  if (!shape.losses) return std::string(kNothing);
  return fmt::format("{:.3f}, {:.3f}", shape.losses->standard, shape.losses->attnres);
}

Table shape_table(const std::vector<TrainingShape>& shapes) {
  Table table{{right("d / L_b"), right("layers"), right("d"), right("weights"), right("step"),
               right("tokens/s"), right("residual path"), right("memory"),
               right("published loss")}};
  for (const TrainingShape& shape : shapes) {
    const bool is_timed = shape.problem.empty();
    const auto known = [&](const std::string& text) {
      return is_timed ? text : std::string(kNothing);
    };
    table.add(
        ratio_text(shape), format_count(shape.decoder_layers), format_count(shape.hidden_size),
        known(fmt::format("{:.4g} G", shape.parameters / 1e9)), known(format_seconds(shape.step)),
        known(format_count(static_cast<Count>(shape.tokens_per_second))),
        known(format_ratio(shape.overhead, Sign::always)), known(format_bytes(shape.memory)),
        loss_text(shape));
  }
  return table;
}

std::string shapes_text(const Study& study, const std::vector<TrainingShape>& shapes) {
  std::string text = fmt::format(
      "The same weights and tokens, in fewer and wider or in more and narrower decoder layers. All "
      "widths are scaled alike. Heads, experts, stages and blocks stay as many as they are. "
      "`layers`: decoder layers, L_b. `d / L_b`: the hidden size over them. `residual path`: what "
      "`{}` as `{}` adds "
      "to the step with the standard residual of the same shape. `memory`: of a device; {}. "
      "`published loss`: of the standard residual and of AttnRes at the same d / L_b, in [attnres] "
      "Fig. 7. Its models have 0.23 G active parameters and took 6.5e19 FLOPs of training. The "
      "figure has several ratios of heads to decoder layers; the nearest to this model's is taken. A "
      "loss there is no prediction for a model of this size.",
      name(study.path.scheme), name(study.schedule),
      study.machine->memory_capacity
          ? fmt::format("it has {}", format_bytes(*study.machine->memory_capacity))
          : "its capacity is not known");
  for (const TrainingShape& shape : shapes)
    if (!shape.problem.empty())
      text += fmt::format(" {} decoder layers: {}.", shape.decoder_layers, shape.problem);
  return text;
}

}  // namespace

namespace training_section {

void append_shapes(JsonWriter& json, const Study& study) {
  json.objects("shapes", training_shapes(study), [&](const TrainingShape& shape) {
    const auto known = [&](double value) {
      return shape.problem.empty() ? std::optional(value) : std::nullopt;
    };
    json.member("is_own", shape.is_own);
    json.member("decoder_layers", shape.decoder_layers);
    json.member("hidden_size", shape.hidden_size);
    json.member("width_per_block", shape.width_per_block);
    json.text_or_null("problem", shape.problem);
    json.member("layer_parameters", known(shape.parameters));
    json.member("step_seconds", known(shape.step.value));
    json.member("tokens_per_second", known(shape.tokens_per_second));
    json.member("overhead_low", known(shape.overhead.low));
    json.member("overhead", known(shape.overhead.value));
    json.member("overhead_high", known(shape.overhead.high));
    json.member("memory_bytes", known(shape.memory.value));
    const auto loss = [&](double ShapeLosses::*member) {
      return shape.losses ? std::optional((*shape.losses).*member) : std::nullopt;
    };
    json.member("heads_per_block_of_losses", loss(&ShapeLosses::heads_per_block));
    json.member("published_standard_loss", loss(&ShapeLosses::standard));
    json.member("published_attnres_loss", loss(&ShapeLosses::attnres));
  });
}

void write_shapes(Document& out) {
  const Study& study = out.evaluation().study;
  const std::vector<TrainingShape> shapes = training_shapes(study);
  if (shapes.empty()) return;
  out.heading(kHeading);
  out.paragraph(shapes_text(study, shapes));
  out.table(shape_table(shapes));
}

void append_shapes(std::string& text, const Study& study) {
  const std::vector<TrainingShape> shapes = training_shapes(study);
  if (shapes.empty()) return;
  append_table(text, "Training: deeper or wider at the same weights", shape_table(shapes));
}

Explanation explain_shapes(const Study& study) {
  Explanation x{
      .metric = "training.shapes",
      .formula =
          "d^2 L_b stays: every width times sqrt(L_b / L_b'), d to a multiple of 16, others "
          "to one of 8; then the step of that model",
      .source = "[attnres] Sec. 5.4.1, Fig. 7; REFERENCES.md, shapes",
      .numbers = {},
      .function = "model/training/shapes.cpp: shaped, training_shapes"};
  for (const TrainingShape& shape : training_shapes(study))
    x.numbers.push_back(
        shape.problem.empty()
            ? fmt::format(
                  "{} decoder layers of d {}: {:.12g} weights, step {:.6g} ms, {:.6g} bytes",
                  shape.decoder_layers, shape.hidden_size, shape.parameters, 1e3 * shape.step.value,
                  shape.memory.value)
            : fmt::format("{} decoder layers: {}", shape.decoder_layers, shape.problem));
  return x;
}

}  // namespace training_section
}  // namespace depthcost
