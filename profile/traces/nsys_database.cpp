// The database of `nsys export --type sqlite`. Source of its tables: NVIDIA, Nsight Systems,
// "SQLite Export Schema Reference", 2021.5.
#include <fmt/format.h>
#include <sqlite3.h>

#include <map>
#include <memory>

#include "profile/traces/trace_builder.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

constexpr const char* kStoredNames = "SELECT id, value FROM StringIds";
constexpr const char* kKernels =
    "SELECT demangledName, deviceId, start, \"end\" - start FROM CUPTI_ACTIVITY_KIND_KERNEL";
constexpr int kLongestText = 1'000'000;  // bytes of a name

struct Closer {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

using Database = std::unique_ptr<sqlite3, Closer>;
using Statement = std::unique_ptr<sqlite3_stmt, Closer>;

[[noreturn]] void fail_database(const std::string& file, std::string_view problem) {
  throw InputError({file, 1, 1}, problem);
}

/// As a file that nobody changes: without locks, and without files beside it.
std::string uri_of(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return uri + "?immutable=1";
}

/// A database can hold programs: views that count for ever, columns that are computed. Only rows
/// that are stored are read.
int allowed(void*, int action, const char*, const char*, const char*, const char* view) {
  const bool is_reading = action == SQLITE_SELECT || action == SQLITE_READ;
  return is_reading && view == nullptr ? SQLITE_OK : SQLITE_DENY;
}

Database opened(const std::string& path) {
  sqlite3* database = nullptr;
  const int state = sqlite3_open_v2(uri_of(path).c_str(), &database,
                                    SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  Database owner(database);
  if (state != SQLITE_OK)
    fail_database(path, fmt::format("cannot read the SQLite database ({})", sqlite3_errstr(state)));
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kLongestText);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return owner;
}

bool has_table(sqlite3* database, const char* table) {
  return sqlite3_table_column_metadata(database, nullptr, table, nullptr, nullptr, nullptr, nullptr,
                                       nullptr, nullptr) == SQLITE_OK;
}

/// Whether a column of the table is computed, or the table's module decides what it holds.
bool has_hidden_columns(sqlite3* database, const char* table) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, "SELECT 1 FROM pragma_table_xinfo(?1) WHERE hidden <> 0", -1,
                     &statement, nullptr);
  const Statement owner(statement);
  sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
  return sqlite3_step(statement) == SQLITE_ROW;
}

Statement rows_of(sqlite3* database, const char* query, const std::string& path) {
  sqlite3_stmt* statement = nullptr;
  const int state = sqlite3_prepare_v2(database, query, -1, &statement, nullptr);
  Statement owner(statement);
  if (state == SQLITE_OK) return owner;
  if (state == SQLITE_AUTH)
    fail_database(path, "no kernels (a view stands where nsys export writes a table)");
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

template <class Take>
void each_row(sqlite3* database, const char* query, const std::string& path, const Take& take) {
  const Statement rows = rows_of(database, query, path);
  int state = SQLITE_OK;
  while ((state = sqlite3_step(rows.get())) == SQLITE_ROW) take(rows.get());
  if (state != SQLITE_DONE)
    fail_database(path, fmt::format("cannot read the SQLite database ({})", sqlite3_errstr(state)));
}

std::map<std::int64_t, std::string> names_in(sqlite3* database, const std::string& path) {
  std::map<std::int64_t, std::string> names;
  std::size_t num_bytes = 0;
  each_row(database, kStoredNames, path, [&](sqlite3_stmt* row) {
    const auto [name, is_new] = names.emplace(sqlite3_column_int64(row, 0), text_at(row, 1));
    if (is_new) num_bytes += name->second.size();
    if (num_bytes > kMaxTraceTableBytes)
      fail_database(path, fmt::format("trace too large (more than {} MB of names; profile fewer "
                                      "steps)",
                                      kMaxTraceTableBytes / 1'000'000));
  });
  return names;
}

}  // namespace

KernelTrace read_trace_database(const std::string& path) {
  const Database database = opened(path);
  for (const char* table : {"StringIds", "CUPTI_ACTIVITY_KIND_KERNEL"})
    if (has_hidden_columns(database.get(), table))
      fail_database(path, fmt::format("no kernels (columns of {} are computed)", table));
  sqlite3_set_authorizer(database.get(), allowed, nullptr);
  const std::map<std::int64_t, std::string> names = names_in(database.get(), path);
  TraceBuilder builder(path);
  each_row(database.get(), kKernels, path, [&](sqlite3_stmt* row) {
    const auto name = names.find(sqlite3_column_int64(row, 0));
    if (name != names.end())
      builder.add({.name = name->second,
                   .device = text_at(row, 1),
                   .start = time_at(row, 2),
                   .duration = time_at(row, 3)});
  });
  return builder.take();
}

}  // namespace depthcost
