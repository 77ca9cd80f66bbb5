// The sections of the report, one function each. Internal to reports/markdown*.cpp.
#pragma once

#include "reports/document.hpp"

namespace depthcost::markdown_sections {

void write_ledger(Document& out);
void write_arithmetic(Document& out);
void write_family(Document& out);
void write_time(Document& out);
void write_rest(Document& out);
void write_operations(Document& out);
void write_measured(Document& out);
void write_memory(Document& out);
void write_prefill(Document& out);
void write_pipeline(Document& out);
void write_training(Document& out);

}  // namespace depthcost::markdown_sections
