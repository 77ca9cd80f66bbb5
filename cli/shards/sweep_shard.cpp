// Writes and reads shards. Whatever a shard says is checked before it is used.
#include "cli/shards/sweep_shard.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>

#include "cli/output/version.hpp"
#include "scenarios/keys/limits.hpp"
#include "scenarios/text/input_error.hpp"
#include "scenarios/text/input_text.hpp"

namespace depthcost {
namespace {

constexpr std::string_view kSchema = "depthcost-shard/2";
constexpr std::size_t kMostShards = 100'000;
// A point has a time of each workload, and a time three estimates and its weight. Before each row
// stands how many times it has.
constexpr std::size_t kEstimateBytes = 1 + 3 * sizeof(double);
constexpr std::size_t kTimeBytes = 3 * kEstimateBytes + 2 + sizeof(double);
constexpr std::size_t kRowBytes = 4;
constexpr std::size_t kMaxShardBytes = 3 * kMostPoints * (kTimeBytes + kRowBytes) + 1000;

// --- times as bytes: the smallest first ---

void append(std::string& bytes, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFFU);
}

void append(std::string& bytes, double value) {
  append(bytes, std::bit_cast<std::uint64_t>(value), sizeof value);
}

double plain(double ratio) { return ratio; }
double plain(Seconds time) { return time.value; }

template <class Q>
void append(std::string& bytes, const Estimate<Q>& e) {
  append(bytes, static_cast<std::uint64_t>(e.evidence), 1);
  for (const Q end : {e.low, e.value, e.high}) append(bytes, plain(end));
}

void append(std::string& bytes, const std::optional<Estimate<double>>& e) {
  append(bytes, e ? 1U : 0U, 1);
  if (e) append(bytes, *e);
}

std::string row_bytes(std::span<const AddedTime> times) {
  std::string bytes;
  append(bytes, times.size(), 4);
  for (const AddedTime& time : times) {
    append(bytes, time.delta);
    append(bytes, time.overhead);
    append(bytes, time.overhead_of_fitting);
    append(bytes, time.weight);
  }
  return bytes;
}

/// Reads what row_bytes() has written. Throws InputError at the end of the file.
class TimesReader {
 public:
  TimesReader(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  bool is_at_end() const { return bytes_.empty(); }

  std::vector<AddedTime> row() {
    std::vector<AddedTime> times;
    for (std::uint64_t i = number(4); i > 0; --i) {
      const auto delta = estimate<Seconds>();
      const auto overhead = optional_ratio();
      const auto overhead_of_fitting = optional_ratio();
      times.push_back({delta, overhead, overhead_of_fitting, std::bit_cast<double>(number(8))});
    }
    return times;
  }

 private:
  [[noreturn]] void refuse() const {
    throw InputError({path_, 1, 1}, "invalid shard (its times cannot be read)");
  }

  std::uint64_t number(std::size_t size) {
    if (bytes_.size() < size) refuse();
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(bytes_[i])} << (8 * i);
    bytes_.remove_prefix(size);
    return value;
  }

  template <class Q>
  Estimate<Q> estimate() {
    const std::uint64_t evidence = number(1);
    if (evidence >= kEnumerators<Evidence>.size()) refuse();
    const auto end = [&] { return Q{std::bit_cast<double>(number(sizeof(double)))}; };
    const Q low = end();
    const Q value = end();
    const Estimate<Q> read{low, value, end(), static_cast<Evidence>(evidence)};
    const bool is_finite = std::isfinite(plain(low)) && std::isfinite(plain(read.high));
    if (!is_finite || !(low <= value && value <= read.high)) refuse();
    return read;
  }

  std::optional<Estimate<double>> optional_ratio() {
    const std::uint64_t is_there = number(1);
    if (is_there > 1) refuse();
    if (is_there == 0) return std::nullopt;
    return estimate<double>();
  }

  std::string_view bytes_;
  const std::string& path_;
};

// --- the lines above them ---

std::size_t count_in(std::string_view text) {
  std::size_t value = 0;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && last == end ? value : 0;
}

/// Takes the value of the next line, which begins with `key`.
std::string_view take_line(std::string_view& text, std::string_view key, const Position& position) {
  const std::size_t end = text.substr(0, 200).find('\n');
  if (end == std::string_view::npos || !text.starts_with(key) || end <= key.size())
    throw InputError(position, "invalid shard (no file of depthcost sweep --shard)");
  const std::string_view value = text.substr(key.size() + 1, end - key.size() - 1);
  text.remove_prefix(end + 1);
  return value;
}

std::string share_text(const SweepShare& share) {
  return fmt::format("{}/{}", share.index + 1, share.count);
}

std::optional<SweepShare> share_in(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::size_t index = count_in(text.substr(0, slash));
  const std::size_t count = count_in(text.substr(std::min(slash + 1, text.size())));
  if (index == 0 || index > count || count > kMostShards) return std::nullopt;
  return SweepShare{index - 1, count};
}

/// visit(number of the row among all, its times) for each row of the sweeps.
template <class Visit>
void each_row(const SweepReport& report, const Visit& visit) {
  std::size_t number = 0;
  for (const ReportedScene& scene : report.scenes)
    for (std::size_t row = 0; scene.sweep && row < scene.sweep->num_rows(); ++row)
      visit(number++, scene.sweep->row_times(row));
}

std::string first_row_hash(const SweepReport& report) {
  std::string hash = "none";
  each_row(report, [&](std::size_t number, std::span<const AddedTime> times) {
    if (number == 0) hash = hash_text(row_bytes(times));
  });
  return hash;
}

std::string missing_text(const std::vector<std::size_t>& missing, std::size_t count) {
  constexpr std::size_t kShown = 8;
  const std::span shown(missing.data(), std::min(missing.size(), kShown));
  const std::string more =
      missing.size() > kShown ? fmt::format(" and {} more", missing.size() - kShown) : "";
  return fmt::format("missing shard{} {}{} of {} (--shard {}/{} makes {})",
                     missing.size() == 1 ? "" : "s", fmt::join(shown, ", "), more, count,
                     missing.front(), count, missing.size() == 1 ? "it" : "the first of them");
}

}  // namespace

SweepShare share_of(const std::string& text) {
  const auto share = share_in(text);
  if (!share)
    throw InputError(
        {"--shard", 1, 1},
        fmt::format("invalid shard '{}' (must be I/N, as 3/8: I from 1 to N, N at most {})",
                    printable(text), kMostShards));
  return *share;
}

std::string question_of(const ScenarioOptions& question, const std::vector<std::string>& axes) {
  const auto lines = [](const std::vector<std::string>& texts) {
    return fmt::format("{}:{}", texts.size(), fmt::join(texts, "\n"));
  };
  const std::vector<std::string> all{
      hash_of_files_read(), question.model,          question.hardware,        question.tensor,
      question.data,        question.expert,         question.pipeline,        question.scheme,
      question.block_size,  question.compare,        question.decode,          question.context,
      question.prefill,     lines(question.budgets), lines(question.settings), lines(axes)};
  return hash_text(fmt::format("{}", fmt::join(all, "\n")));
}

std::string shard_text(const SweepReport& report, const SweepShare& share,
                       const std::string& question) {
  std::string times;
  each_row(report, [&](std::size_t number, std::span<const AddedTime> row) {
    if (number % share.count == share.index) times += row_bytes(row);
  });
  return fmt::format(
             "schema {}\nversion {}\nquestion {}\nshard {}\nfirst_row {}\ntimes {} bytes, {}\n",
             kSchema, kVersion, question, share_text(share), first_row_hash(report), times.size(),
             hash_text(times)) +
         times;
}

std::vector<std::vector<AddedTime>> rows_in(std::string_view bytes, const std::string& path) {
  std::vector<std::vector<AddedTime>> rows;
  for (TimesReader times(bytes, path); !times.is_at_end();) rows.push_back(times.row());
  return rows;
}

MergedShards::Shard MergedShards::read(const std::string& path, const std::string& question,
                                       std::size_t& index, std::size_t& count) {
  const std::string text = load_text(path, kMaxShardBytes);
  std::string_view rest = text;
  const auto refuse = [&](int line, const std::string& why) {
    throw InputError({path, line, 1}, fmt::format("invalid shard ({})", why));
  };
  if (take_line(rest, "schema", {path, 1, 1}) != kSchema)
    refuse(1, fmt::format("its schema must be {}", kSchema));
  const std::string_view version = take_line(rest, "version", {path, 2, 1});
  if (version != kVersion)
    refuse(2, fmt::format("made by depthcost {}, this is {}: make all shards and merge them with "
                          "one program",
                          printable(version), kVersion));
  if (take_line(rest, "question", {path, 3, 1}) != question)
    refuse(3, "made for another scenario, or with other axes or options");
  const auto share = share_in(take_line(rest, "shard", {path, 4, 1}));
  if (!share) refuse(4, "no share I/N");
  index = share->index;
  count = share->count;
  Shard shard{path, std::string(take_line(rest, "first_row", {path, 5, 1})), {}};
  const std::string said(take_line(rest, "times", {path, 6, 1}));
  const std::string is = fmt::format("{} bytes, {}", rest.size(), hash_text(rest));
  if (said != is)
    refuse(6, fmt::format("its times are cut short or changed: {}, not {}", is, printable(said)));
  shard.rows = rows_in(rest, path);
  return shard;
}

MergedShards::MergedShards(const std::vector<std::string>& paths, const std::string& question) {
  std::map<std::size_t, Shard> found;
  std::size_t count = 0;
  for (const std::string& path : paths) {
    std::size_t index = 0;
    std::size_t of = 0;
    Shard shard = read(path, question, index, of);
    if (count == 0) count = of;
    if (of != count)
      throw InputError({path, 4, 1}, fmt::format("invalid shard (one of {}, but {} is one of {})",
                                                 of, printable(paths.front()), count));
    const auto [other, is_new] = found.try_emplace(index, std::move(shard));
    if (!is_new)
      throw InputError({path, 4, 1},
                       fmt::format("shard {} of {} is there twice (the other is {}: remove one)",
                                   index + 1, count, printable(other->second.path)));
  }
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < count; ++i)
    if (!found.contains(i)) missing.push_back(i + 1);
  if (!missing.empty()) throw InputError({"--merge", 1, 1}, missing_text(missing, count));
  for (auto& [index, shard] : found) shards_.push_back(std::move(shard));
}

std::span<const AddedTime> MergedShards::row(std::size_t row, std::size_t size) const {
  const Shard& shard = shards_[row % shards_.size()];
  const std::size_t place = row / shards_.size();
  if (place < shard.rows.size() && shard.rows[place].size() == size) return shard.rows[place];
  throw InputError({shard.path, 1, 1},
                   fmt::format("invalid shard (row {} is not one of this sweep: made by another "
                               "build of the program)",
                               row + 1));
}

void MergedShards::require_same_arithmetic(const SweepReport& report) const {
  const std::string hash = first_row_hash(report);
  for (const Shard& shard : shards_)
    if (shard.first_row != hash)
      throw InputError({shard.path, 5, 1},
                       "invalid shard (its first row has other times than here: another build of "
                       "the program, or a machine that rounds otherwise)");
}

}  // namespace depthcost
