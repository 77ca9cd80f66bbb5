// What the tables of few tokens and of a core leave out is a scan.
#include "model/machine/scan.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "model/ledger/path_operations.hpp"
#include "model/machine/catalogue.hpp"
#include "model/machine/core_work.hpp"
#include "model/machine/few_tokens.hpp"
#include "model/schemes/list.hpp"

namespace depthcost::scan_test {
namespace {

void expect_timed(const Operation& operation) {
  EXPECT_NO_THROW(token_work(operation, {})) << name(operation.id);
  EXPECT_NO_THROW(core_work(operation)) << name(operation.id);
}

TEST(Scans, AreAllOperationsWithoutARow) {
  for (const CatalogueEntry& entry : catalogue()) expect_timed(entry.operation({}));
  for (const SchemeRule* rule : scheme_rules()) {
    SCOPED_TRACE(rule->id);
    SchemeParameters parameters;
    parameters.hidden_size = 64;
    parameters.blocks = partition_by_size(12, 5);
    for (const Schedule schedule : rule->schedules)
      for (const auto& [operation, calls] :
           distinct_operations({Scheme{*rule, parameters}, 12}, schedule))
        expect_timed(operation);
  }
}

std::string refusal(const std::function<void()>& timed) {
  try {
    timed();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

TEST(Scans, AreNoOperationsWithMoreThanRows) {
  const Operation scan{.id = {"new"}, .accesses = {Access{Operand::layer_output, 1, 1}}};
  expect_timed(scan);
  const auto expect_refused = [&](void (*change)(Operation&)) {
    Operation more = scan;
    change(more);
    EXPECT_EQ(refusal([&] { token_work(more, {}); }),
              "new is more than a scan, but model/machine/few_tokens.cpp has no row for it");
    EXPECT_EQ(refusal([&] { core_work(more); }),
              "new is more than a scan, but model/machine/core_work.cpp has no row for it");
  };
  expect_refused([](Operation& op) { op.sources = 1; });
  expect_refused([](Operation& op) { op.queries = 1; });
  expect_refused([](Operation& op) { op.streams = 1; });
  expect_refused([](Operation& op) { op.reads_scalars = 1; });
  expect_refused([](Operation& op) { op.writes_scalars = 1; });
  expect_refused([](Operation& op) { op.unit = ExecutionUnit::tensor_cores; });
}

}  // namespace
}  // namespace depthcost::scan_test
