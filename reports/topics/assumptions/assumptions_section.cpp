// Every value with its origin.
#include "reports/topics/assumptions/assumptions_section.hpp"

#include <fmt/format.h>

namespace depthcost::assumptions_section {

void write_json(JsonWriter& json, const Answer& answer) {
  json.object("scenario", [&] {
    json.member("name", answer.evaluation.study.name);
    json.object("values", [&] {
      for (const ResolvedValue& entry : answer.values) {
        json.object(entry.key, [&] {
          json.member("value", entry.value);
          json.member("origin", entry.origin);
        });
      }
    });
  });
}

/// What the user wrote, what was assumed, and what stands in for a value without a source.
void write_markdown(Document& out) {
  out.heading("Assumptions and their origin");
  out.paragraph(fmt::format("<details><summary>{} values, each with where it comes from</summary>",
                            out.parts().values.size()));
  Table table{{"key", "value", "origin"}};
  for (const ResolvedValue& value : out.parts().values)
    table.add(fmt::format("`{}`", value.key), value.value, value.origin);
  out.table(table);
  out.paragraph("</details>");
}

void write_closing(Document& out) {
  out.heading("What is not modelled");
  for (const std::string_view text : kUnmodelled) out.bullet(std::string(text));
  out.end_list();
  out.heading("Sources");
  for (const std::string text :
       {"[attnres] Attention Residuals, arXiv:2603.15031v1: Table 1, Eq. 1-8, Algorithm 1, Sec. 4, "
        "Appendix B",
        "[mhc] Manifold-Constrained Hyper-Connections, arXiv:2512.24880v2: Table 2, Sec. 4.3",
        "[ours] derived in model/REFERENCES.md; values and their sources stand under Assumptions"})
    out.bullet(text);
  out.end_list();
  out.paragraph(fmt::format("depthcost {}. Any number here: `depthcost explain SCENARIO METRIC`.",
                            out.parts().program_version));
}

}  // namespace depthcost::assumptions_section
