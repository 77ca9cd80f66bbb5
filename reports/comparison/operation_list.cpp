// One row for each entry of the catalogue.
#include "reports/comparison/operation_list.hpp"

#include "model/machine/catalogue.hpp"
#include "model/operations/mix.hpp"
#include "reports/formats/json_writer.hpp"
#include "reports/formats/numbers.hpp"
#include "reports/formats/text_table.hpp"

namespace depthcost {
namespace {

/// Typical of Block AttnRes (paper, Table 1) and of mHC.
constexpr CallCounts kShown{.num_sources = 8, .num_queries = 12, .num_streams = 4};

constexpr std::string_view kListReading =
    "read, written: d-vectors of a token at n = 8 sources, S = 12 queries, m = 4 streams. "
    "kernels/README.md says what each operation computes. A table of times names them in its "
    "column `operation`: `depthcost compare --template` writes an empty one.";

std::string counts_of(const CatalogueEntry& entry) {
  std::string text;
  if (!entry.sources.empty()) text += "sources";
  if (entry.has_queries) text += text.empty() ? "queries" : ", queries";
  if (entry.has_streams) text += text.empty() ? "streams" : ", streams";
  return text.empty() ? std::string(kNothing) : text;
}

Table operation_table() {
  Table table{{"operation", "counts", right("read"), right("written"), "n counts"}};
  for (const CatalogueEntry& entry : catalogue()) {
    const Mix mix = mix_of(entry.operation(kShown));
    table.add(entry.name, counts_of(entry), format_d(mix.reads), format_d(mix.writes),
              entry.sources.empty() ? kNothing : entry.sources);
  }
  return table;
}

std::string operations_json(std::string_view program_version) {
  return json_document(program_version, [&](JsonWriter& json) {
    json.objects("operations", catalogue(), [&](const CatalogueEntry& entry) {
      const Mix mix = mix_of(entry.operation(kShown));
      json.member("operation", entry.name);
      json.text_or_null("sources", entry.sources);
      json.member("queries", entry.has_queries);
      json.member("streams", entry.has_streams);
      json.member("read_d", static_cast<double>(mix.reads));
      json.member("written_d", static_cast<double>(mix.writes));
    });
  });
}

}  // namespace

std::string operation_list(std::string_view format, std::string_view program_version) {
  if (format == "json") return operations_json(program_version);
  const bool is_markdown = format == "markdown";
  const Table table = operation_table();
  return (is_markdown ? markdown(table) : plain_text(table)) + "\n" + std::string(kListReading) +
         "\n";
}

}  // namespace depthcost
