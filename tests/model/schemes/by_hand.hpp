// A scheme's counts by hand: what a layer moves, the parameters that it has, what its backward pass
// moves, and what is kept for that. The rows stand in the test of the scheme's kind beside this
// file.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "model/evaluation/family.hpp"
#include "model/ledger/arithmetic.hpp"
#include "model/ledger/backward.hpp"
#include "model/schemes/list.hpp"

namespace depthcost::by_hand {

// What a layer moves, and its parameters.

inline constexpr Count kDeepLayers = 96;
inline constexpr Count kHiddenSize = 768;

inline ResidualPath path_of(std::string_view id, SchemeParameters parameters = {}) {
  parameters.hidden_size = kHiddenSize;
  if (parameters.blocks.num_layers == 0) parameters.blocks = partition_by_size(kDeepLayers, 10);
  return {Scheme{*find_scheme(id), parameters}, kDeepLayers};
}

inline Study study_of(const ResidualPath& path) {
  Study study;
  study.model = {.name = "test", .num_layers = kDeepLayers, .hidden_size = kHiddenSize};
  study.path = path;
  study.schedule = shipped_schedule(path.scheme);
  study.scheme_parameters = path.scheme.parameters;
  study.scheme_parameters.hidden_size = kHiddenSize;
  return study;
}

inline FamilyRow row_of(const std::vector<FamilyRow>& rows, std::string_view id) {
  for (const FamilyRow& row : rows)
    if (name(row.path.scheme) == id) return row;
  ADD_FAILURE() << "no row " << id;
  return {};
}

/// What a paper, or the table that collects them, says of one scheme.
struct Published {
  std::string_view id;
  double unfused_reads_d, unfused_writes_d;  // without the next norm
  double reads_d, writes_d;                  // of the quoted schedule, with it
};

inline void expect_moved(const std::vector<Published>& published) {
  const std::vector<FamilyRow> rows = family_rows(study_of(path_of("rezero")));
  for (const Published& each : published) {
    SCOPED_TRACE(each.id);
    const FamilyRow row = row_of(rows, each.id);
    EXPECT_DOUBLE_EQ(row.unfused->reads_d, each.unfused_reads_d);
    EXPECT_DOUBLE_EQ(row.unfused->writes_d, each.unfused_writes_d);
    EXPECT_DOUBLE_EQ(row.traffic.reads_d, each.reads_d);
    EXPECT_DOUBLE_EQ(row.traffic.writes_d, each.writes_d);
  }
}

/// Parameters of a layer.
inline double per_layer(std::string_view id, const SchemeParameters& with = {}) {
  return parameters(path_of(id, with), kHiddenSize).per_layer;
}

// The backward pass.

/// Twelve layers, blocks of three, four streams, four columns, a mix behind every second
/// Transformer block.
inline constexpr Count kLayers = 12;
inline ResidualPath trained_path(const SchemeRule& rule) {
  return {Scheme{rule,
                 {.hidden_size = 64,
                  .block_size = 3,
                  .dilation = 2,
                  .period = 2,
                  .blocks = partition_by_size(kLayers, 3)}},
          kLayers};
}

/// A layer's backward pass: rows of activations read, of gradients read and written, and kernels,
/// with gradients of shared sources added up by the kernel.
struct BackwardByHand {
  const SchemeRule& rule;
  Schedule schedule;
  Count layer;
  GradientTraffic traffic;
  double kernels;
};

inline void expect_backward(const std::vector<BackwardByHand>& rows) {
  for (const BackwardByHand& row : rows) {
    const auto layers =
        backward_layers(trained_path(row.rule), row.schedule, GradientAccumulation::fused);
    const BackwardLayer& layer = layers[static_cast<std::size_t>(row.layer) - 1];
    const GradientTraffic& t = layer.traffic;
    EXPECT_EQ(t, row.traffic) << row.rule.id << ' ' << name(row.schedule) << ' ' << row.layer
                              << ": " << t.activation_reads_d << ' ' << t.gradient_reads_d << ' '
                              << t.gradient_writes_d;
    EXPECT_EQ(layer.kernels, row.kernels) << row.rule.id << ' ' << name(row.schedule);
  }
}

/// What the six layers behind the second one keep.
inline ChunkActivations kept_by_six(const SchemeRule& rule, ActivationPolicy policy,
                                    Schedule schedule) {
  return chunk_activations(trained_path(rule), {3, 6}, {.policy = policy, .schedule = schedule});
}

struct KeptByHand {
  const SchemeRule& rule;
  Schedule schedule;
  SavedVectors kept;
  SavedVectors left_by_recompute;
  SavedVectors working;
  double received = 0;
};

inline void expect_kept(const std::vector<KeptByHand>& rows) {
  for (const KeptByHand& row : rows) {
    const auto keep = kept_by_six(row.rule, ActivationPolicy::keep, row.schedule);
    const auto recompute = kept_by_six(row.rule, ActivationPolicy::recompute, row.schedule);
    SCOPED_TRACE(std::string(row.rule.id) + ' ' + std::string(name(row.schedule)));
    EXPECT_EQ(keep.kept.vectors, row.kept.vectors);
    EXPECT_EQ(keep.kept.scalars, row.kept.scalars);
    EXPECT_EQ(recompute.kept.vectors, row.left_by_recompute.vectors);
    EXPECT_EQ(recompute.working.vectors, row.working.vectors);
    EXPECT_EQ(recompute.working.scalars, row.working.scalars);
    EXPECT_EQ(keep.received.vectors, row.received);
  }
}

}  // namespace depthcost::by_hand
