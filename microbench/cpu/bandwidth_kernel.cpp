// An exclusive or takes no time beside memory traffic, and lets every output be checked.
#include "microbench/cpu/bandwidth_kernel.hpp"

#include "kernels/cpu/primitives/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "microbench/cpu/bandwidth_kernel.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/primitives/threads.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::bench::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<std::uint64_t>;
using Vector = hn::Vec<Tag>;
using Order = BandwidthVariant::Order;
using Stores = BandwidthVariant::Stores;

constexpr std::size_t kRowWords = kArrayPageBytes / sizeof(std::uint64_t);
constexpr std::size_t kLinesAtOnce = 4;

/// From word `at` on of every output.
template <Stores kStores, std::size_t kLines>
HWY_INLINE void store(const BandwidthCall& call, std::size_t at, const Vector (&values)[kLines],
                      Tag tag) {
  for (std::size_t k = 0; k < call.outputs.size(); ++k) {
    std::uint64_t* to = call.outputs[k] + at;
    const bool streaming = kStores == Stores::streaming && k >= call.in_place;
    HWY_UNROLL(8)
    for (std::size_t line = 0; line < kLines; ++line, to += hn::Lanes(tag))
      if (streaming)
        hn::Stream(values[line], tag, to);
      else
        hn::Store(values[line], tag, to);
  }
}

/// Lines that ordinary stores would read first: to a core they are reads like any other.
template <std::size_t kLines>
HWY_INLINE void fetch_outputs(const BandwidthCall& call, std::size_t at, Tag tag) {
  for (std::size_t k = call.in_place; k < call.outputs.size(); ++k) {
    HWY_UNROLL(8)
    for (std::size_t line = 0; line < kLines; ++line)
      __builtin_prefetch(call.outputs[k] + at + line * hn::Lanes(tag), 1, 3);
  }
}

template <Stores kStores, std::size_t kLines>
void by_lines(const BandwidthCall& call, std::size_t begin, std::size_t end) {
  const Tag tag;
  const std::size_t ahead = call.variant.ahead / sizeof(std::uint64_t);
  Vector read = hn::Zero(tag);  // what has no output must be looked at, or nothing would be read
  for (std::size_t i = begin; i < end; i += kLines * hn::Lanes(tag)) {
    Vector sums[kLines];
    HWY_UNROLL(8)
    for (std::size_t k = 0; k < kLines; ++k) sums[k] = hn::Zero(tag);
    for (const std::uint64_t* input : call.inputs) {
      HWY_UNROLL(8)
      for (std::size_t k = 0; k < kLines; ++k) {
        const std::uint64_t* from = input + i + k * hn::Lanes(tag);
        hwy::Prefetch(from + ahead);
        sums[k] = hn::Xor(sums[k], hn::Load(tag, from));
      }
    }
    if (kStores == Stores::cached) fetch_outputs<kLines>(call, i + ahead, tag);
    store<kStores, kLines>(call, i, sums, tag);
    if (call.outputs.empty()) {
      HWY_UNROLL(8)
      for (std::size_t k = 0; k < kLines; ++k) read = hn::Xor(read, sums[k]);
    }
  }
  benchmark::DoNotOptimize(hn::GetLane(read));
}

/// `row` to every output, one output after the other.
template <Stores kStores>
HWY_INLINE void store_row(const BandwidthCall& call, std::size_t first, const std::uint64_t* row,
                          Tag tag) {
  for (std::size_t k = 0; k < call.outputs.size(); ++k)
    for (std::size_t i = 0; i < kRowWords; i += hn::Lanes(tag)) {
      std::uint64_t* to = call.outputs[k] + first + i;
      if (kStores == Stores::streaming && k >= call.in_place)
        hn::Stream(hn::Load(tag, row + i), tag, to);
      else
        hn::Store(hn::Load(tag, row + i), tag, to);
    }
}

template <Stores kStores>
void by_row(const BandwidthCall& call, std::size_t begin, std::size_t end) {
  const Tag tag;
  HWY_ALIGN std::uint64_t row[kRowWords];
  for (std::size_t first = begin; first < end; first += kRowWords) {
    for (std::size_t i = 0; i < kRowWords; i += hn::Lanes(tag))
      hn::Store(hn::Zero(tag), tag, row + i);
    for (const std::uint64_t* input : call.inputs)
      for (std::size_t i = 0; i < kRowWords; i += hn::Lanes(tag)) {
        hwy::Prefetch(input + first + i + kRowWords);
        hn::Store(hn::Xor(hn::Load(tag, row + i), hn::Load(tag, input + first + i)), tag, row + i);
      }
    store_row<kStores>(call, first, row, tag);
    benchmark::DoNotOptimize(row);
  }
}

HWY_INLINE void read_array(const std::uint64_t* from, std::size_t ahead, std::size_t begin,
                           std::size_t end, Tag tag) {
  Vector sums[kLinesAtOnce];
  HWY_UNROLL(8)
  for (Vector& sum : sums) sum = hn::Zero(tag);
  for (std::size_t i = begin; i < end; i += kLinesAtOnce * hn::Lanes(tag)) {
    HWY_UNROLL(8)
    for (std::size_t k = 0; k < kLinesAtOnce; ++k) {
      const std::uint64_t* line = from + i + k * hn::Lanes(tag);
      hwy::Prefetch(line + ahead);
      sums[k] = hn::Xor(sums[k], hn::Load(tag, line));
    }
  }
  for (const Vector& sum : sums) benchmark::DoNotOptimize(hn::GetLane(sum));
}

HWY_INLINE void update_array(std::uint64_t* array, std::size_t ahead, std::size_t begin,
                             std::size_t end, Tag tag) {
  const Vector word = hn::Set(tag, kWrittenWord);
  for (std::size_t i = begin; i < end; i += hn::Lanes(tag)) {
    hwy::Prefetch(array + i + ahead);
    hn::Store(hn::Xor(hn::Load(tag, array + i), word), tag, array + i);
  }
}

template <Stores kStores>
HWY_INLINE void write_array(std::uint64_t* array, std::size_t begin, std::size_t end, Tag tag) {
  const Vector word = hn::Set(tag, kWrittenWord);
  for (std::size_t i = begin; i < end; i += hn::Lanes(tag))
    if (kStores == Stores::streaming)
      hn::Stream(word, tag, array + i);
    else
      hn::Store(word, tag, array + i);
}

template <Stores kStores>
void one_by_one(const BandwidthCall& call, std::size_t begin, std::size_t end) {
  const Tag tag;
  const std::size_t ahead = call.variant.ahead / sizeof(std::uint64_t);
  for (std::size_t k = call.in_place; k < call.inputs.size(); ++k)
    read_array(call.inputs[k], ahead, begin, end, tag);
  for (std::size_t k = 0; k < call.in_place; ++k)
    update_array(call.outputs[k], ahead, begin, end, tag);
  for (std::size_t k = call.in_place; k < call.outputs.size(); ++k)
    write_array<kStores>(call.outputs[k], begin, end, tag);
}

template <Stores kStores>
void run_range(const BandwidthCall& call, std::size_t begin, std::size_t end) {
  switch (call.variant.order) {
    case Order::by_line:
      by_lines<kStores, 1>(call, begin, end);
      break;
    case Order::by_lines:
      by_lines<kStores, kLinesAtOnce>(call, begin, end);
      break;
    case Order::by_row:
      by_row<kStores>(call, begin, end);
      break;
    case Order::one_by_one:
      one_by_one<kStores>(call, begin, end);
      break;
  }
  hwy::FlushStream();
}

}  // namespace

void run_rows(const BandwidthCall& call, std::size_t first_row, std::size_t last_row) {
  const std::size_t begin = first_row * kRowWords;
  const std::size_t end = last_row * kRowWords;
  if (call.variant.stores == Stores::streaming)
    run_range<Stores::streaming>(call, begin, end);
  else
    run_range<Stores::cached>(call, begin, end);
}

}  // namespace depthcost::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace depthcost::bench {

HWY_EXPORT(run_rows);

void run_bandwidth_kernel(const BandwidthCall& call) {
  const auto run = HWY_DYNAMIC_DISPATCH(run_rows);
  cpu::for_each_range(call.size / kArrayPageBytes,
                      kArrayPageBytes * (call.inputs.size() + call.outputs.size()),
                      [&](cpu::TokenRange rows) { run(call, rows.begin, rows.end); });
}

std::uint64_t expected_word(const BandwidthCall& call, std::size_t k, std::size_t at) {
  if (call.variant.order == BandwidthVariant::Order::one_by_one)
    return k < call.in_place ? call.outputs[k][at] ^ kWrittenWord : kWrittenWord;
  std::uint64_t sum = 0;
  for (const std::uint64_t* input : call.inputs) sum ^= input[at];
  return sum;
}

}  // namespace depthcost::bench
#endif
