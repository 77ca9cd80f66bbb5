// Layers behind the model that draft tokens.
#include <fmt/format.h>

#include <algorithm>

#include "scenarios/import/hf_parts.hpp"

namespace depthcost {
namespace {

std::string_view text_of(const ImportedRecord& record, std::string_view key) {
  for (const ImportedValue& member : record.members)
    if (member.key == key) return member.text;
  return "";
}

/// The number of the last record of which `is_it` is true, from 1; 0: none.
template <class IsIt>
Count last_of(const std::vector<ImportedRecord>& records, const IsIt& is_it) {
  for (std::size_t i = records.size(); i > 0; --i)
    if (is_it(records[i - 1])) return static_cast<Count>(i);
  return 0;
}

/// Members and a source of one record.
ImportedRecord record_of(const HfModel& model, const ConfigValue& layers,
                         const std::vector<std::pair<std::string, Count>>& counts,
                         std::string_view why) {
  ImportedRecord record{.members = {},
                        .source = fmt::format("{}; {}", model.config.cite({layers.path()}), why)};
  for (const auto& [key, count] : counts)
    record.members.push_back({key, fmt::format("{}", count), layers.position()});
  return record;
}

std::vector<ImportedRecord> next_token(const HfModel& model, const ConfigValue& layers,
                                       const std::vector<ImportedRecord>& attention,
                                       const std::vector<ImportedRecord>& mlp) {
  const Count full = last_of(
      attention, [](const ImportedRecord& record) { return text_of(record, "kind") != "linear"; });
  if (full == 0) return {};
  const Count d = model.hidden_size;
  return {record_of(model, layers,
                    {{"layers", layers.count()},
                     {"attention", full},
                     {"mlp", static_cast<Count>(mlp.size())},
                     {"projections", 2 * d * d * layers.count()}},
                    "full attention and the last MLP, with a projection of 2 d to d")};
}

/// DeepSeek-V4.1: windows alone, fewer experts, a block of tokens in a pass.
std::vector<ImportedRecord> dspark(const HfModel& model, const ConfigValue& layers,
                                   const std::vector<ImportedRecord>& attention,
                                   const std::vector<ImportedRecord>& mlp) {
  const std::string why = "of the layers that draft";
  const Count window = last_of(
      attention, [](const ImportedRecord& record) { return text_of(record, "ratio").empty(); });
  if (window == 0) return {};
  HfConfig& config = model.config;
  return {record_of(model, layers,
                    {{"layers", layers.count()},
                     {"attention", window},
                     {"mlp", static_cast<Count>(mlp.size())},
                     {"experts", config.at({"dspark_n_routed_experts"}, why).count()},
                     {"active", config.at({"dspark_num_experts_per_tok"}, why).count()},
                     {"block", config.at({"dspark_block_size"}, why).count()}},
                    "dspark_n_routed_experts, dspark_num_experts_per_tok, dspark_block_size; "
                    "windows alone, as compress_ratios says")};
}

}  // namespace

std::vector<ImportedRecord> import_draft(const HfModel& model,
                                         const std::vector<ImportedRecord>& attention,
                                         const std::vector<ImportedRecord>& mlp) {
  if (model.type.drafter == Drafter::uncounted) return {};
  const auto layers = model.config.find({"num_nextn_predict_layers", "mtp_num_hidden_layers"});
  if (!layers || layers->count(Range::non_negative) == 0) return {};
  if (model.type.drafter == Drafter::dspark) return dspark(model, *layers, attention, mlp);
  return next_token(model, *layers, attention, mlp);
}

}  // namespace depthcost
