// What lies in the memory of a device.
#include <fmt/format.h>

#include "reports/document.hpp"
#include "reports/format.hpp"
#include "reports/markdown_sections.hpp"
#include "reports/table.hpp"

namespace depthcost::markdown_sections {
namespace {

/// The bank without b_0, as Sec. 4.2 counts it: whole, sharded, and sharded in chunks.
Table sharding_table(const Evaluation& e) {
  Table table{{{"bank, without b_0"}, {"bytes on one device", Align::right}, {"GB", Align::right}},
              {}};
  const auto add = [&](const std::string& what, std::optional<Count> chunk, Count shards) {
    Study study = e.study;
    study.prefill->chunk = chunk;
    study.prefill->sequence_shards = shards;
    const Bytes bank = prefill_memory(study, e.paths.front()).bank;
    table.rows.push_back(
        {what, format_count(static_cast<Count>(bank.value)), format_bytes(bank, Prefix::decimal)});
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

std::string capacity_text(const Study& study) {
  std::string text = fmt::format("What `{}` keeps on the fullest device at each workload point",
                                 name(study.path.scheme));
  text += study.model.architecture
              ? ", with weights and KV cache. Activations of the layers are not counted."
              : "; weights and KV cache are not counted, since the model has no `attention` and "
                "`mlp`.";
  if (study.machine && study.machine->memory_capacity)
    text += fmt::format(" The device has {}.",
                        format_bytes(*study.machine->memory_capacity, Prefix::binary));
  if (study.prefill)
    text +=
        " A prefill holds the KV cache of one whole sequence, and the residual path's vectors "
        "of one chunk.";
  return text;
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

}  // namespace

void write_memory(Document& out) {
  const Evaluation& e = out.evaluation();
  if (!e.study.decode && !e.study.prefill) return;
  out.heading("Memory of a device");
  out.paragraph(capacity_text(e.study));
  out.table(memory_table(e));
}

void write_prefill(Document& out) {
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
            tokens, name(e.study.path.scheme), format_bytes(memory.bank, Prefix::binary),
            format_bytes(memory.bank_with_embedding, Prefix::binary),
            format_bytes(memory.phase1, Prefix::binary)) +
        cache_text(e));
  } else {
    out.paragraph(fmt::format("On one device, with {} tokens at a time: `{}` keeps {}.", tokens,
                              name(e.study.path.scheme),
                              format_bytes(memory.bank, Prefix::binary)) +
                  cache_text(e));
  }
  out.table(prefill_table(e));
  out.plot("bank.svg");
}

}  // namespace depthcost::markdown_sections
