// The database of `nsys export --type sqlite`. Source of its tables: NVIDIA, Nsight Systems,
// "SQLite Export Schema Reference", 2021.5.
#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>

#include "profile/traces/trace_builder.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

constexpr const char* kKernels =
    "SELECT names.value, kernels.deviceId, kernels.start, kernels.\"end\" - kernels.start "
    "FROM CUPTI_ACTIVITY_KIND_KERNEL AS kernels "
    "JOIN StringIds AS names ON names.id = kernels.demangledName";

struct Closer {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

using Database = std::unique_ptr<sqlite3, Closer>;
using Statement = std::unique_ptr<sqlite3_stmt, Closer>;

[[noreturn]] void fail_database(const std::string& file, std::string_view problem) {
  throw InputError({file, 1, 1}, problem);
}

Database opened(const std::string& path) {
  sqlite3* database = nullptr;
  const int state = sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
  Database owner(database);
  if (state != SQLITE_OK)
    fail_database(path, fmt::format("cannot read the SQLite database ({})", sqlite3_errstr(state)));
  return owner;
}

bool has_table(sqlite3* database, const char* table) {
  return sqlite3_table_column_metadata(database, nullptr, table, nullptr, nullptr, nullptr, nullptr,
                                       nullptr, nullptr) == SQLITE_OK;
}

Statement kernels_in(sqlite3* database, const std::string& path) {
  sqlite3_stmt* statement = nullptr;
  const int state = sqlite3_prepare_v2(database, kKernels, -1, &statement, nullptr);
  Statement owner(statement);
  if (state == SQLITE_OK) return owner;
  if (state != SQLITE_ERROR)
    fail_database(path, fmt::format("cannot read the SQLite database ({})", sqlite3_errstr(state)));
  if (has_table(database, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"))
    fail_database(path, "CUDA graphs without their kernels (profile with --cuda-graph-trace=node)");
  fail_database(
      path,
      "no kernels (the tables CUPTI_ACTIVITY_KIND_KERNEL and StringIds of nsys export are "
      "not there; was the GPU profiled?)");
}

std::string text_at(sqlite3_stmt* row, int column) {
  const unsigned char* text = sqlite3_column_text(row, column);
  return text == nullptr ? std::string() : reinterpret_cast<const char*>(text);
}

std::optional<std::int64_t> time_at(sqlite3_stmt* row, int column) {
  if (sqlite3_column_type(row, column) != SQLITE_INTEGER) return std::nullopt;
  return sqlite3_column_int64(row, column);
}

}  // namespace

KernelTrace read_trace_database(const std::string& path) {
  const Database database = opened(path);
  const Statement kernels = kernels_in(database.get(), path);
  TraceBuilder builder(path);
  int state = SQLITE_OK;
  while ((state = sqlite3_step(kernels.get())) == SQLITE_ROW)
    builder.add({.name = text_at(kernels.get(), 0),
                 .device = text_at(kernels.get(), 1),
                 .start = time_at(kernels.get(), 2),
                 .duration = time_at(kernels.get(), 3)});
  if (state != SQLITE_DONE)
    fail_database(path, fmt::format("cannot read the SQLite database ({})", sqlite3_errstr(state)));
  return builder.take();
}

}  // namespace depthcost
