// Bank, b_0 and Phase 1 outputs, and what they are worth in KV cache.
#include "reports/topics/memory/prefill_section.hpp"

#include <fmt/format.h>

#include "model/step/weights_and_cache.hpp"
#include "reports/formats/numbers.hpp"

namespace depthcost {
namespace prefill_section {
namespace {

using explained::letters;
using explained::metric;

/// Bank, b_0 and Phase 1 outputs, and what they are worth in KV cache.
std::array<NamedQuantity, 4> quantities_of(const PrefillMemory& memory) {
  return {{{"bank_bytes_per_device", memory.bank.value, "bytes"},
           {"bank_with_embedding_bytes_per_device", memory.bank_with_embedding.value, "bytes"},
           {"phase1_bytes_per_device", memory.phase1.value, "bytes"},
           {"cache_tokens", memory.cache_tokens, "tokens"}}};
}

/// The bank without b_0, as Sec. 4.2 counts it: whole, sharded, and sharded in chunks.
Table sharding_table(const Evaluation& e) {
  Table table{{"bank, without b_0", right("bytes on one device"), right("GB")}};
  const auto add = [&](const std::string& what, std::optional<Count> chunk, Count shards) {
    Study study = e.study;
    study.prefill->chunk = chunk;
    study.prefill->sequence_shards = shards;
    const Bytes bank = prefill_memory(study, e.paths.front()).bank;
    table.add(what, format_count(static_cast<Count>(bank.value)), format_bytes(bank));
  };
  const Prefill& prefill = *e.study.prefill;
  add(fmt::format("{} tokens in one memory", format_count(prefill.tokens)), std::nullopt, 1);
  if (prefill.sequence_shards > 1)
    add(fmt::format("sharded over {} devices", prefill.sequence_shards), std::nullopt,
        prefill.sequence_shards);
  if (prefill.chunk)
    add(fmt::format("and in chunks of {}", format_count(*prefill.chunk)), prefill.chunk,
        prefill.sequence_shards);
  return table;
}

/// What else the bank's bytes could hold.
std::string cache_text(const Evaluation& e) {
  const PrefillMemory& memory = e.prefill.front();
  if (!memory.cache_tokens) return {};
  return fmt::format(
      " {} as large as the KV cache of {} tokens, {} of the sequence's {}.",
      e.aggregation.source_rows > 0 ? "Bank and b_0 together are" : "That is",
      format_count(static_cast<Count>(*memory.cache_tokens)),
      format_ratio(*memory.cache_tokens / static_cast<double>(e.study.prefill->tokens)),
      format_count(e.study.prefill->tokens));
}

/// What the three numbers of the prefill table are made of.
void prefill_rows(const Evaluation& e, const std::string& prefix, const ResidualPath& path,
                  const PrefillMemory& memory, Explanations& out) {
  const PrefillShape shape = prefill_shape(e.study);
  const std::string tokens =
      fmt::format("ceil(min({}, {}) / {}) = {} tokens a device", shape.num_tokens,
                  shape.chunk ? std::to_string(*shape.chunk) : "no chunk", shape.sequence_shards,
                  tokens_per_device(shape));
  const auto add = [&](const std::string& name, const std::string& formula,
                       const std::string& source, Bytes bytes, Dtype dtype,
                       const std::string& function) {
    out.push_back(
        {.metric = prefix + name,
         .formula = formula,
         .source = source,
         .numbers = {letters(path), tokens,
                     fmt::format("d = {}, {}", e.study.model.hidden_size, depthcost::name(dtype)),
                     fmt::format("= {:.12g} bytes", bytes.value)},
         .function = "model/step/prefill.hpp: " + function});
  };
  const Dtype dtype = e.study.model.dtype;
  add("bank_bytes_per_device",
      "v ceil(min(T, chunk) / P) d elements; v = N for Block, L for Full, m for mHC, 1 standard",
      "[attnres] Sec. 4.2", memory.bank, dtype, "bank_bytes");
  add("bank_with_embedding_bytes_per_device",
      "(v + 1) ceil(min(T, chunk) / P) d elements where there is a bank",
      "[attnres] Sec. 4.2, and b_0, which it leaves out", memory.bank_with_embedding, dtype,
      "bank_bytes");
  add("phase1_bytes_per_device",
      "s ceil(min(T, chunk) / P) (d elements + 2 scalars), s = layers of the longest block",
      "[ours] from [attnres] Algorithm 1, line 3", memory.phase1, e.study.phase1_dtype,
      "phase1_bytes");
  if (!memory.cache_tokens) return;
  const Bytes per_token = cache_per_token(e.study, static_cast<double>(e.study.prefill->tokens));
  out.push_back({.metric = prefix + "cache_tokens",
                 .formula = "bank with b_0 / bytes by which one more token of the sequence makes "
                            "the KV cache of the fullest device grow",
                 .source = "[ours] REFERENCES.md, memory of the rest",
                 .numbers = {fmt::format("{:.12g} / {:.12g} = {:.6g} tokens",
                                         memory.bank_with_embedding.value, per_token.value,
                                         *memory.cache_tokens)},
                 .function =
                     "model/step/memory.cpp: prefill_memory; model/step/weights_and_cache.cpp: "
                     "cache_per_token"});
}

}  // namespace

void write_json(JsonWriter& json, const Answer& answer) {
  const Evaluation& evaluation = answer.evaluation;
  if (evaluation.prefill.empty()) return;
  json.object("prefill", [&] {
    append(json, quantities_of(evaluation.prefill.front()));
    json.array("by_scheme", [&] {
      for (std::size_t i = 0; i < evaluation.prefill.size(); ++i)
        json.object([&] {
          json.member("scheme", name(evaluation.paths[i].scheme));
          append(json, quantities_of(evaluation.prefill[i]));
        });
    });
  });
}

void write_csv(CsvLines& csv, const Answer& answer) {
  const Evaluation& e = answer.evaluation;
  for (std::size_t i = 0; i < e.prefill.size(); ++i) {
    const CsvPlace place{.section = "prefill", .scheme = name(e.paths[i].scheme)};
    csv.add(place, quantities_of(e.prefill[i]));
  }
}

void explain(const Evaluation& e, Explanations& out) {
  if (e.prefill.empty()) return;
  prefill_rows(e, "prefill.", e.study.path, e.prefill.front(), out);
  for (std::size_t i = 0; i < e.prefill.size(); ++i)
    prefill_rows(e, metric({"prefill.by_scheme", name(e.paths[i].scheme), ""}), e.paths[i],
                 e.prefill[i], out);
}

void write_markdown(Document& out) {
  const Evaluation& e = out.evaluation();
  if (e.prefill.empty()) return;
  out.heading("Residual state in prefill");
  const PrefillMemory& memory = e.prefill.front();
  const std::string tokens = format_count(tokens_per_device(prefill_shape(e.study)));
  if (e.aggregation.source_rows > 0) {
    out.table(sharding_table(e));
    out.paragraph(
        fmt::format(
            "On one device, with {} tokens at a time: `{}` keeps {}, with b_0 {}; Phase 1 of one block "
            "would keep {} more under the two-phase schedule, which the paper leaves out.",
            tokens, name(e.study.path.scheme), format_bytes(memory.bank),
            format_bytes(memory.bank_with_embedding), format_bytes(memory.phase1)) +
        cache_text(e));
  } else {
    out.paragraph(fmt::format("On one device, with {} tokens at a time: `{}` keeps {}.", tokens,
                              name(e.study.path.scheme), format_bytes(memory.bank)) +
                  cache_text(e));
  }
  out.table(prefill_table(e));
  out.plot("bank.svg");
}

void write_table(std::string& text, const Answer& answer) {
  if (!answer.evaluation.prefill.empty())
    append_table(text, "Prefill: bytes on one device", prefill_table(answer.evaluation));
}

}  // namespace prefill_section

using namespace prefill_section;

Table prefill_table(const Evaluation& evaluation) {
  Table table{{"scheme", right("bank or state"), right("with b_0"), right("Phase 1 outputs"),
               right("as KV tokens")}};
  for (std::size_t i = 0; i < evaluation.prefill.size(); ++i) {
    const PrefillMemory& memory = evaluation.prefill[i];
    table.add(name(evaluation.paths[i].scheme), format_bytes(memory.bank),
              format_bytes(memory.bank_with_embedding), format_bytes(memory.phase1),
              memory.cache_tokens ? format_count(static_cast<Count>(*memory.cache_tokens))
                                  : std::string(kNothing));
  }
  return table;
}

}  // namespace depthcost
