// Dynamic programming over the ends of segments, with relative least squares in each segment.
#include "profile/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "profile/statistics.hpp"

namespace depthcost::profile {
namespace {

// No timer resolves a smaller root mean square of relative errors: a fit cannot be better. [ours]
constexpr double kFinest = 1e-4;

/// t = latency + per_byte S, and the sum of its squared relative errors.
struct Line {
  double latency = 0;
  double per_byte = 0;
  double squares = std::numeric_limits<double>::infinity();
};

double squares_of(std::span<const LinkPoint> points, double latency, double per_byte) {
  double sum = 0;
  for (const LinkPoint& p : points) {
    const double error = (latency + per_byte * p.size.value) / p.time.value - 1;
    sum += error * error;
  }
  return sum;
}

/// Minimises sum_i ((a + b S_i) / t_i - 1)^2 over a, b >= 0. If the free minimum has a negative a
/// or b, the minimum has that one at 0.
Line fit_line(std::span<const LinkPoint> points) {
  double aa = 0, ab = 0, bb = 0, a1 = 0, b1 = 0;
  for (const LinkPoint& p : points) {
    const double a = 1 / p.time.value;
    const double b = p.size.value / p.time.value;
    aa += a * a;
    ab += a * b;
    bb += b * b;
    a1 += a;
    b1 += b;
  }
  const double determinant = aa * bb - ab * ab;
  Line best;
  const auto consider = [&](double latency, double per_byte) {
    if (!(latency >= 0 && per_byte >= 0)) return;
    const Line line{latency, per_byte, squares_of(points, latency, per_byte)};
    if (line.squares < best.squares) best = line;
  };
  if (determinant > 0)
    consider((a1 * bb - b1 * ab) / determinant, (b1 * aa - a1 * ab) / determinant);
  consider(a1 / aa, 0);
  if (bb > 0) consider(0, b1 / bb);
  return best;
}

/// Schwarz 1978, for errors of unknown width. A segment has two parameters, and a break is one.
double bic(double squares, std::size_t num_points, std::size_t num_segments) {
  const auto n = static_cast<double>(num_points);
  const auto parameters = static_cast<double>(3 * num_segments - 1);
  return n * std::log(std::max(squares / n, kFinest * kFinest)) + parameters * std::log(n);
}

/// The best division of the first `end` points into some number of segments.
struct Division {
  double squares = std::numeric_limits<double>::infinity();
  std::size_t last_begin = 0;  // of the last segment
};

class Divisions {
 public:
  explicit Divisions(std::span<const LinkPoint> points) : points_(points) {
    std::vector<Division> first(points.size() + 1);
    for (std::size_t end = kPointsPerSegment; end <= points.size(); ++end)
      first[end] = {fit_line(points.first(end)).squares, 0};
    by_count_.push_back(first);
    while ((by_count_.size() + 1) * kPointsPerSegment <= points.size()) add_segment();
  }

  /// Where segments begin.
  std::vector<std::size_t> best() const {
    std::size_t count = 1;
    for (std::size_t k = 2; k <= by_count_.size(); ++k)
      if (cost(k) < cost(count)) count = k;
    std::vector<std::size_t> begins;
    for (std::size_t end = points_.size(); count > 0; --count) {
      end = by_count_[count - 1][end].last_begin;
      begins.insert(begins.begin(), end);
    }
    return begins;
  }

 private:
  double cost(std::size_t count) const {
    return bic(by_count_[count - 1].back().squares, points_.size(), count);
  }

  void add_segment() {
    const std::vector<Division>& before = by_count_.back();
    std::vector<Division> now(before.size());
    for (std::size_t end = kPointsPerSegment; end < now.size(); ++end)
      for (std::size_t begin = kPointsPerSegment; begin + kPointsPerSegment <= end; ++begin) {
        const double squares =
            before[begin].squares + fit_line(points_.subspan(begin, end - begin)).squares;
        if (squares < now[end].squares) now[end] = {squares, begin};
      }
    by_count_.push_back(std::move(now));
  }

  std::span<const LinkPoint> points_;
  std::vector<std::vector<Division>> by_count_;  // [segments - 1][points]
};

LinkError held_out_error(const LinkCurve& whole, std::span<const LinkPoint> points) {
  LinkError error{whole.transfer, whole.num_ranks, {}};
  std::vector<LinkPoint> kept;
  for (std::size_t i = 0; i < points.size(); i += 2) kept.push_back(points[i]);
  if (kept.size() < kPointsPerSegment) return error;
  const LinkCurve curve{whole.transfer, whole.num_ranks, fit_segments(kept)};
  std::vector<double> sizes;
  for (std::size_t i = 1; i < points.size(); i += 2) {
    const double off = message_time(curve, points[i].size) / points[i].time - 1;
    sizes.push_back(std::abs(off));
    if (std::abs(off) > std::abs(error.errors.worst)) error.errors.worst = off;
  }
  error.errors.cases = sizes.size();
  error.errors.median = quantile(sizes, 0.5);
  error.errors.p90 = quantile(sizes, 0.9);
  return error;
}

}  // namespace

std::vector<LinkSegment> fit_segments(std::span<const LinkPoint> points) {
  const std::vector<std::size_t> begins = Divisions(points).best();
  std::vector<LinkSegment> segments;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : points.size();
    const Line line = fit_line(points.subspan(begins[i], end - begins[i]));
    segments.push_back(
        {points[begins[i]].size,
         {line.latency},
         {line.per_byte > 0 ? 1 / line.per_byte : std::numeric_limits<double>::infinity()}});
  }
  return segments;
}

std::vector<FittedLink> fit_links(const Samples& samples) {
  std::map<std::pair<Transfer, Count>, std::map<double, double>> curves;
  for (const LinkSample& sample : samples.links) {
    auto& curve = curves[{sample.transfer, sample.num_ranks}];
    if (!curve.emplace(sample.bytes.value, typical(sample.seconds)).second)
      throw InputError({samples.path, 1, 1},
                       fmt::format("invalid samples ('{}' twice)", printable(sample.name)));
  }
  std::vector<FittedLink> links;
  for (const auto& [of, times] : curves) {
    if (times.size() < kPointsPerSegment)
      throw InputError({samples.path, 1, 1},
                       fmt::format("too few samples ({} sizes of {} among {} ranks, of at least "
                                   "{})",
                                   times.size(), name(of.first), of.second, kPointsPerSegment));
    std::vector<LinkPoint> points;
    for (const auto& [size, seconds] : times) points.push_back({{size}, {seconds}});
    LinkCurve curve{of.first, of.second, fit_segments(points)};
    LinkError held_out = held_out_error(curve, points);
    links.push_back({std::move(curve), held_out});
  }
  return links;
}

}  // namespace depthcost::profile
