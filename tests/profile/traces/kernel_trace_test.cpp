// Traces of both profilers, and what kernels are by their names. All traces here are made by hand:
// none is a measurement.
#include "profile/traces/kernel_trace.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <zlib.h>
#include <filesystem>

#include <cstdio>
#include <random>

#include "profile/traces/kernel_names.hpp"
#include "profile/traces/trace_builder.hpp"
#include "scenarios/presets/presets.hpp"
#include "scenarios/text/input_error.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::test::kernel_trace_test {
namespace {

const std::string kFiles = std::string(DEPTHCOST_SOURCE_DIR) + "/tests/profile/traces/files/";

/// Counts nanosecond by nanosecond.
std::int64_t counted(const std::vector<Interval>& intervals, std::int64_t most) {
  std::int64_t covered = 0;
  for (std::int64_t at = 0; at < most; ++at) {
    bool runs = false;
    for (const Interval& interval : intervals)
      runs = runs || (interval.start <= at && at < interval.end);
    covered += runs ? 1 : 0;
  }
  return covered;
}

TEST(TimeInAny, EqualsALoopOverNanoseconds) {
  constexpr std::int64_t kMost = 300;
  std::mt19937 random(7);  // NOLINT: the same cases in every run
  for (int round = 0; round < 200; ++round) {
    std::vector<Interval> intervals;
    for (unsigned i = 0; i < random() % 12; ++i) {
      const auto start = static_cast<std::int64_t>(random() % 250);
      intervals.push_back({start, start + static_cast<std::int64_t>(random() % 50)});
    }
    EXPECT_NEAR(time_in_any(intervals).value * 1e9, static_cast<double>(counted(intervals, kMost)),
                1e-6);
  }
}

TEST(TimeInAny, CountsWhatOverlapsOnceAndGapsNever) {
  const auto nanoseconds_in = [](const std::vector<Interval>& intervals) {
    return time_in_any(intervals).value * 1e9;
  };
  EXPECT_EQ(nanoseconds_in({}), 0);
  EXPECT_DOUBLE_EQ(nanoseconds_in({{10, 20}, {30, 40}}), 20);
  EXPECT_DOUBLE_EQ(nanoseconds_in({{30, 40}, {10, 20}}), 20);
  EXPECT_DOUBLE_EQ(nanoseconds_in({{10, 20}, {15, 30}}), 20);
  EXPECT_DOUBLE_EQ(nanoseconds_in({{10, 100}, {20, 30}, {40, 50}}), 90);
  EXPECT_DOUBLE_EQ(nanoseconds_in({{10, 20}, {10, 20}}), 10);
  EXPECT_DOUBLE_EQ(span_of({{30, 40}, {10, 20}}).value * 1e9, 30);
}

TEST(TracedOverhead, IsWhatIsAddedOverTheStepWithTheStandardResidual) {
  TracedStep traced{.span = Seconds{220e-6},
                    .residual = Seconds{40e-6},
                    .operations = {{.name = "mhc_pre", .launches = 20}},
                    .steps = 2};
  PredictedTrace predicted{.launches = 10, .standard = Seconds{10e-6}};
  // One step is 110 us with 20 us of residual path: 10 us more than the standard's, over 100 us.
  EXPECT_NEAR(traced_overhead(traced, predicted).value(), 0.1, 1e-12);
  predicted.standard = Seconds{21e-6};
  EXPECT_FALSE(traced_overhead(traced, predicted).has_value()) << "less than the standard's";
  predicted.standard = Seconds{10e-6};
  traced.steps = 0;
  EXPECT_FALSE(traced_overhead(traced, predicted).has_value());
}

TEST(IsComparable, HoldsFromHalfOfTheLaunchesToFourTimes) {
  const auto holds = [](Count launches) {
    return is_comparable(
        {.operations = {{.name = "mhc_pre", .launches = launches},
                        {.name = "mhc_post", .beside = "all-reduce", .launches = 90}},
         .steps = 2},
        {.launches = 10});
  };
  EXPECT_FALSE(holds(9));
  EXPECT_TRUE(holds(10));
  EXPECT_TRUE(holds(80));
  EXPECT_FALSE(holds(81));
}

TEST(Nanoseconds, AreExactWhereADoubleOfMicrosecondsIsNot) {
  EXPECT_EQ(nanoseconds("1700000000000010.001", 3), 1700000000000010001);
  EXPECT_EQ(nanoseconds("12", 3), 12000);
  EXPECT_EQ(nanoseconds("12.3456", 3), 12346);
  EXPECT_EQ(nanoseconds("12.3454", 3), 12345);
  EXPECT_EQ(nanoseconds("1.5", 0), 2);
  EXPECT_EQ(nanoseconds("1e3", 3), 1000000);
  EXPECT_EQ(nanoseconds("-1", 3), -1000);
  for (const char* text : {"", "x", "1.2.3", "99999999999999999999", "1e30"})
    EXPECT_FALSE(nanoseconds(text, 3).has_value()) << text;
}

TEST(ChromeTrace, HasTheKernelsAndTheStepsOfTheProfiler) {
  const KernelTrace trace = load_trace(kFiles + "step.json");
  EXPECT_EQ(trace.kernels.size(), 4U);
  EXPECT_EQ(trace.steps, std::set<std::string>{"ProfilerStep#7"});
  EXPECT_EQ(trace.other_devices, 0);
  const auto& runs = trace.kernels.at("nvjet_tst_64x8_64x16_4x1_v_bz_TNT");
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs.front().start, 1700000000000014000);
  EXPECT_EQ(runs.front().end, 1700000000000064000);
}

TEST(NsysTable, HasTheKernelsOfTheDeviceThatLaunchesMost) {
  const KernelTrace trace = load_trace(kFiles + "step.csv");
  EXPECT_EQ(trace.kernels.size(), 2U);
  EXPECT_EQ(trace.device, "NVIDIA H200 (0)");
  EXPECT_EQ(trace.other_devices, 1);
  EXPECT_TRUE(trace.steps.empty());
  EXPECT_EQ(trace.kernels.at("nvjet_tst_64x8_64x16_4x1_v_bz_TNT").front().end, 64000);
}

TEST(NsysTable, MayBeJsonAndHaveOtherUnits) {
  const test::TemporaryFolder folder;
  const std::string json = folder.written(
      "it.json", R"json([{"Start (ns)": 5, "Duration (ns)": "7", "Strm": 7, "Name": "k"
},
                     {"Start (ns)": 20, "Duration (ns)": 9, "Name": "[CUDA memset]"}])json");
  const KernelTrace rows = load_trace(json);
  ASSERT_EQ(rows.kernels.size(), 1U);
  EXPECT_EQ(rows.kernels.at("k").front().end, 12);
  const std::string table = folder.written("it.csv", "Name,Duration (us),Start (ms)\nk,1.5,2\n");
  EXPECT_EQ(load_trace(table).kernels.at("k").front().start, 2'000'000);
  EXPECT_EQ(load_trace(table).kernels.at("k").front().end, 2'001'500);
}

TEST(KernelNames, AreUsedFirstMatchFirst) {
  const std::vector<KernelName> names{
      {"one_kernel", "mhc_pre", ""}, {"kernel", "mhc_post", ""}, {"void *<8>", "mhc_boundary", ""}};
  EXPECT_EQ(find_kernel_name(names, "void x::one_kernel<8>")->operation, "mhc_pre");
  EXPECT_EQ(find_kernel_name(names, "void x::other_kernel<8>")->operation, "mhc_post");
  EXPECT_EQ(find_kernel_name(names, "void y<8>")->operation, "mhc_boundary");
  EXPECT_EQ(find_kernel_name(names, "void y<8> "), nullptr);
  EXPECT_EQ(find_kernel_name(names, "gemm"), nullptr);
}

// Names as profilers print them, from the sources that the files of names cite.
TEST(ShippedKernelNames, KnowTheKernelsOfTheirStacks) {
  const std::vector<KernelName> names = shipped_kernel_names();
  const std::vector<std::pair<std::string, std::string>> expected{
      {"void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(...)", "residual_add_rmsnorm"},
      {"void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(...)",
       "residual_add_rmsnorm"},
      {"_fused_add_rms_norm_forward_kernel", "residual_add_rmsnorm"},
      {"void sglang::attn_res_fused_tma_kernel<sglang::KimiK3AttnResTrait<7168l, 8u, 5u, 200u>, "
       "1u>(AttnResTMAParams)",
       "attnres_single_pass"},
      {"_attn_res_kernel", "attnres_single_pass"},
      {"_attn_res_fwd_kernel", "attnres_single_pass/bare"},
      {"attnres_fwd_kernel", "attnres_single_pass/bare"},
      {"void deep_gemm::sm90_tf32_hc_prenorm_gemm_impl<24u, 16384u>(...)", "mhc_pre"},
      {"mhc_pre_big_fuse_with_norm_tilelang_kernel", "mhc_pre"},
      {"mhc_fused_tilelang_kernel", "mhc_boundary"},
      {"mhc_post_tilelang_kernel", "mhc_post"},
      {"_mhc_post_res_fwd_kernel", "mhc_post"}};
  for (const auto& [kernel, operation] : expected) {
    const KernelName* found = find_kernel_name(names, kernel);
    ASSERT_NE(found, nullptr) << kernel;
    EXPECT_EQ(found->operation, operation) << kernel;
    EXPECT_EQ(found->beside, "") << kernel;
  }
  EXPECT_EQ(find_kernel_name(names, "allreduce_fusion_kernel_oneshot_lamport<1>")->beside,
            "all-reduce");
  for (const char* other : {"void vllm::rms_norm_kernel<c10::BFloat16>(...)",
                            "ncclDevKernel_AllReduce_RING_LL", "attnres_bwd_kernel_dx"})
    EXPECT_EQ(find_kernel_name(names, other), nullptr) << other;
}

/// Packs as gzip does.
std::string packed(const TemporaryFolder& folder, const std::string& content,
                   const std::string& name) {
  const std::string path = folder.path(name);
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
  return path;
}

void expect_same(const KernelTrace& a, const KernelTrace& b) {
  ASSERT_EQ(a.kernels.size(), b.kernels.size());
  for (const auto& [name, runs] : a.kernels) {
    ASSERT_TRUE(b.kernels.contains(name)) << name;
    EXPECT_EQ(span_of(runs).value, span_of(b.kernels.at(name)).value) << name;
    EXPECT_EQ(runs.size(), b.kernels.at(name).size()) << name;
  }
}

TEST(PackedTrace, HasTheKernelsOfTheUnpackedOne) {
  const TemporaryFolder folder;
  for (const char* name : {"step.json", "step.csv"}) {
    SCOPED_TRACE(name);
    const std::string path = packed(folder, content_of(kFiles + name), std::string(name) + ".gz");
    expect_same(load_trace(path), load_trace(kFiles + name));
  }
}

TEST(PackedTrace, IsBoundedByItsContent) {
  const TemporaryFolder folder;
  const std::string path = packed(folder, "[" + std::string(100'000, ' ') + "]", "long.json.gz");
  try {
    load_trace(path, 50'000);
    FAIL() << "100 kB are more than 50";
  } catch (const InputError& error) {
    EXPECT_EQ(error.message(), "trace too large (at most 0 MB; profile fewer steps)");
  }
}

/// Runs statements on a new database.
std::string database(const TemporaryFolder& folder, const std::string& statements) {
  const std::string path = folder.path("report.sqlite");
  std::remove(path.c_str());
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  return path;
}

TEST(NsysDatabase, HasTheKernelsOfTheDeviceThatLaunchesMost) {
  const TemporaryFolder folder;
  const KernelTrace trace = load_trace(database(folder, R"(
      CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
      INSERT INTO StringIds VALUES (1, 'gemm(float*)'), (2, 'gemm'), (3, '_attn_res_kernel');
      CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, "end" INT NOT NULL,
        deviceId INT NOT NULL, demangledName INT NOT NULL, shortName INT NOT NULL);
      INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
        (100, 130, 4, 1, 2), (140, 150, 4, 3, 3), (90, 200, 5, 3, 3);)"));
  EXPECT_EQ(trace.device, "4");
  EXPECT_EQ(trace.other_devices, 1);
  ASSERT_EQ(trace.kernels.size(), 2U);
  EXPECT_EQ(trace.kernels.at("gemm(float*)").front().start, 100);
  EXPECT_EQ(trace.kernels.at("gemm(float*)").front().end, 130);
  EXPECT_EQ(trace.kernels.at("_attn_res_kernel").size(), 1U);
}

/// What is wrong with a database that these statements make.
std::string database_fault(const std::string& statements) {
  const TemporaryFolder folder;
  try {
    load_trace(database(folder, statements));
  } catch (const InputError& error) {
    return error.message();
  }
  return "";
}

TEST(NsysDatabase, SaysWhatIsMissing) {
  EXPECT_EQ(
      database_fault("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);"),
      "no kernels (the tables CUPTI_ACTIVITY_KIND_KERNEL and StringIds of nsys export are not "
      "there; was the GPU profiled?)");
  EXPECT_EQ(database_fault("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT);"),
            "CUDA graphs without their kernels (profile with --cuda-graph-trace=node)");
}

constexpr const char* kStringIds = "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);";

/// What a database computes is not a measurement, and could go on for ever.
TEST(NsysDatabase, RunsNothingThatAFileHolds) {
  const std::string kernels =
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, \"end\" INT, deviceId INT, "
      "demangledName INT); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 1);";
  EXPECT_EQ(database_fault(kStringIds + std::string(R"(
      INSERT INTO StringIds VALUES (1, 'k');
      CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE c(deviceId, start, "end",
        demangledName) AS (SELECT 0, 1, 2, 1 UNION ALL SELECT 0, start + 1, start + 2, 1 FROM c)
        SELECT * FROM c;)")),
            "no kernels (a view stands where nsys export writes a table)");
  EXPECT_EQ(database_fault(kernels + "CREATE VIEW StringIds AS SELECT 1 AS id, 'k' AS value;"),
            "no kernels (a view stands where nsys export writes a table)");
  EXPECT_EQ(database_fault(
                kernels + "CREATE TABLE StringIds (id INT, value TEXT GENERATED ALWAYS AS "
                          "(hex(zeroblob(300000000))) VIRTUAL); INSERT INTO StringIds VALUES (1);"),
            "no kernels (columns of StringIds are computed)");
  EXPECT_EQ(
      database_fault(kernels + kStringIds + "INSERT INTO StringIds VALUES (1, zeroblob(1000001));"),
      "cannot read the SQLite database (string or blob too big)");
}

TEST(NsysDatabase, WritesNothingBesideIt) {
  const TemporaryFolder folder;
  const std::string path =
      database(folder, std::string("PRAGMA journal_mode = WAL;") + kStringIds + R"(
      INSERT INTO StringIds VALUES (1, 'k');
      CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, "end" INT, deviceId INT,
        demangledName INT);
      INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 3, 0, 1), (5, 6, 0, 2);)");
  const KernelTrace trace = load_trace(path);
  EXPECT_EQ(trace.kernels.size(), 1U) << "a kernel without a name is left out";
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    files.push_back(entry.path().filename());
  EXPECT_EQ(files, std::vector<std::string>{"report.sqlite"});
}

TEST(TracedStep, SumsUnionsByOperation) {
  const KernelTrace trace = load_trace(kFiles + "step.json");
  const TracedStep traced = traced_step(trace, shipped_kernel_names(), "step.json");
  const auto us = [](Seconds time) { return time.value * 1e6; };
  EXPECT_EQ(traced.launches, 5);
  EXPECT_EQ(traced.steps, 1);
  EXPECT_NEAR(us(traced.span), 90, 1e-9);         // 10 to 100
  EXPECT_NEAR(us(traced.kernel_time), 82, 1e-9);  // 10 to 72 and 80 to 100
  EXPECT_NEAR(us(traced.residual), 15.5, 1e-9);   // 10 to 16 and 62.5 to 72
  ASSERT_EQ(traced.operations.size(), 3U);
  EXPECT_EQ(traced.operations[0].beside, "all-reduce");
  EXPECT_NEAR(us(traced.operations[1].time), 14.25, 1e-9);
  ASSERT_EQ(traced.unmapped.size(), 1U);
  EXPECT_NEAR(us(traced.unmapped[0].time), 50, 1e-9);
}

/// Loads a file with that content, and returns what is wrong with it.
std::string fault(const std::string& name, const std::string& text,
                  std::uintmax_t max_bytes = kMaxTraceBytes) {
  const test::TemporaryFolder folder;
  try {
    load_trace(folder.written(name, text), max_bytes);
  } catch (const InputError& error) {
    return std::to_string(error.position().line) + ":" + std::to_string(error.position().column) +
           ": " + error.message();
  }
  return "";
}

TEST(TraceErrors, NameTheCause) {
  EXPECT_EQ(fault("a.json",
                  R"({"traceEvents": [{"cat": "kernel", "name": "k", "ts": 1, "dur": 2}]})", 50),
            "1:1: trace too large (at most 0 MB; profile fewer steps)");
  EXPECT_EQ(fault("a.json", R"([{"cat": "kernel", "name": "k", "ts": 1, "dur": -2}])"),
            "1:1: invalid duration of kernel 'k' (must be a time below 146 years, not negative)");
  EXPECT_EQ(fault("a.json", R"([{"cat": "kernel", "name": "k", "ts": "x", "dur": 2}])"),
            "1:1: invalid start of kernel 'k' (must be a time below 146 years, not negative)");
  // Start and end are below 2^63 nanoseconds, so that their sum is a number.
  EXPECT_EQ(fault("a.json", R"([{"cat": "kernel", "name": "k", "ts": 4611686018427387.904,
                                 "dur": 4611686018427387.9036}])"),
            "1:1: invalid start of kernel 'k' (must be a time below 146 years, not negative)");
  EXPECT_EQ(fault("a.json", R"([{"cat": "kernel", "name": "k", "ts": 1,
                                 "dur": 4611686018427387.9036}])"),
            "1:1: invalid duration of kernel 'k' (must be a time below 146 years, not negative)");
  EXPECT_EQ(fault("a.json", "\xEF\xBB\xBF[{\"cat\": \"cpu_op\"}]"),
            "1:1: no kernels (was the GPU profiled?)");
  EXPECT_EQ(fault("a.json", "[1e999999]"),
            "1:1: malformed JSON (number overflow parsing '1e999999')");
  EXPECT_EQ(fault("a.json", "[\"of mine\n\"]").find("of mine"), std::string::npos);
  EXPECT_EQ(fault("a.json", R"([{"cat": "cpu_op", "name": "k", "ts": 1, "dur": 2}])"),
            "1:1: no kernels (was the GPU profiled?)");
  EXPECT_EQ(
      fault("a.json", "{\"Type\": 48}\n{\"Type\": 48}\n"),
      "1:1: several JSON values (of nsys export? write a database: nsys export --type sqlite)");
  EXPECT_EQ(fault("a.csv", "Start (ns),Duration (ns),Name\n1,x,k\n"),
            "2:3: invalid time 'x' (must be a number, not negative)");
  EXPECT_EQ(fault("a.csv", "Start (ns),Duration (ns),Name\n1,2\n"),
            "2:1: row of 2 cells (the header has 3)");
  const std::string no_header = "1:1: no columns 'Start', 'Duration' and 'Name'";
  EXPECT_EQ(fault("a.csv", "Start (ns),Duration (ns)\n1,2\n").substr(0, no_header.size()),
            no_header);
  EXPECT_EQ(fault("a.csv", "Start (ns),Name\n1,k\n").substr(0, no_header.size()), no_header);
  EXPECT_EQ(fault("a.csv", "Duration (ns),Name\n1,k\n").substr(0, no_header.size()), no_header);
}

}  // namespace
}  // namespace depthcost::test::kernel_trace_test
