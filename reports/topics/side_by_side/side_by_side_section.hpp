// Schemes that are compared, on one model: what each adds to it, and what is published about its
// quality. Their times stand under the verdict.
#pragma once

#include "reports/formats/text_table.hpp"
#include "reports/section/section.hpp"

namespace depthcost {

namespace side_by_side_section {

/// Both only where schemes are compared.
void write_markdown(Document& out);
void write_table(std::string& text, const Answer& answer);

}  // namespace side_by_side_section

/// One row a scheme: weights, operations and d-vectors a token, launches of a forward pass, state.
Table side_by_side_table(const Evaluation& evaluation);

/// One row for each scheme of which a quality is published; none is worked out.
Table published_quality_table(const Evaluation& evaluation);

}  // namespace depthcost
