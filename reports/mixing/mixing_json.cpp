// Depth mixing matrices as JSON: the lower triangle, row by row.
#include "reports/formats/json_writer.hpp"
#include "reports/mixing/mixing_report.hpp"

namespace depthcost {
namespace {

void write_pattern(JsonWriter& json, const MixedScheme& mixed) {
  const SymbolicPattern pattern = symbolic_pattern(mixed);
  json.object("pattern", [&] {
    json.member("num_layers", pattern.shape.num_layers);
    json.array("rows", [&] {
      for (Count l = 1; l <= pattern.shape.num_layers; ++l)
        json.array([&] {
          for (Count i = 0; i < l; ++i) json.value(mixed.scheme->entry(pattern.shape, l, i));
        });
    });
  });
}

void write_claim(JsonWriter& json, const MixedScheme& mixed) {
  const auto claim = mixed.scheme->claim(mixed.shape);
  json.text_or_null("claim", claim ? claim->words : "");
  json.member("claim_low", claim ? std::optional(as_double(claim->low)) : std::nullopt);
  json.member("claim_high", claim ? std::optional(as_double(claim->high)) : std::nullopt);
  json.member("verdict", verdict_text(mixed));
  json.text_or_null("remark", mixed.scheme->remark);
}

/// Fig. 8: what each layer attends to, attention and MLP apart by `sublayer`.
void write_attention(JsonWriter& json, const WeightRows& rows) {
  json.array("attention", [&] {
    for (std::size_t l = 0; l < rows.size(); ++l)
      json.object([&] {
        json.member("layer", static_cast<Count>(l + 1));
        json.member("sublayer", name(l % 2 == 0 ? Sublayer::attention : Sublayer::mlp));
        json.numbers("weights", rows[l]);
      });
  });
}

void write_scheme(JsonWriter& json, const MixedScheme& mixed) {
  const auto generic = mixed.scheme->generic_rank(mixed.shape);
  json.member("scheme", mixed.scheme->name);
  for (const MixingParameter parameter : mixed.scheme->parameters)
    json.member(name(parameter), value_of(mixed.shape, parameter));
  json.member("equation", mixed.scheme->equation);
  json.member("source", mixed.scheme->source);
  json.member("function", mixed.scheme->function);
  json.text_or_null("weights_file", mixed.origin.file);
  json.member("tokens", mixed.origin.num_tokens);
  json.member("semiseparable_rank", mixed.rank.rank);
  json.member("cut_layer", mixed.rank.cut);
  json.member("generic_rank", generic ? std::optional(as_double(*generic)) : std::nullopt);
  write_claim(json, mixed);
  write_pattern(json, mixed);
  json.array("matrix", [&] {
    for (Count l = 1; l <= mixed.shape.num_layers; ++l) json.numbers(mixed.matrix.weights(l));
  });
  if (const WeightRows* attention = attention_of_file(mixed)) write_attention(json, *attention);
}

void write_magnitude(JsonWriter& json, const MagnitudeSeries& series) {
  json.member("scheme", series.scheme);
  json.member("layers", series.layers);
  json.member("quantity", series.quantity);
  json.member("law", name(series.growth.law));
  json.member("gain_per_layer", series.growth.per_layer);
  json.member("fit_error", series.growth.error);
  json.member("largest", series.growth.largest);
  json.member("period", series.period > 0 ? std::optional(as_double(series.period)) : std::nullopt);
  json.member("recurrence", series.recurrence);
  json.numbers("magnitudes", series.magnitudes);
}

}  // namespace

std::string mixing_json(const MixingReport& report, const std::string& program_version) {
  return json_document(program_version, [&](JsonWriter& json) {
    json.member("scenario", report.title);
    json.member("num_layers", report.num_layers);
    json.member("seed", report.seed);
    json.objects("schemes", report.schemes,
                 [&](const MixedScheme& mixed) { write_scheme(json, mixed); });
    json.objects("magnitudes", report.magnitudes,
                 [&](const MagnitudeSeries& series) { write_magnitude(json, series); });
  });
}

}  // namespace depthcost
