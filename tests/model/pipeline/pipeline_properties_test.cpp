// Pipeline traffic for any layout: a second derivation that walks layer by layer and moves sets of
// block ids from stage to stage, closed forms, and properties that follow from definitions.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "tests/model/pipeline/payloads.hpp"
#include "tests/model/pipeline/pipeline_theory.hpp"

namespace depthcost::pipeline_properties_test {
namespace {

using test::as_index;
using test::Counts;
using test::every_payload;
using test::kEmbeddings;
using test::kPartialSums;
using test::vectors_of;

struct Simulation {
  std::vector<std::set<Count>> history_on_entry;  ///< per chunk
  Counts vectors;                                 ///< per transition
};

class Walker {
 public:
  Walker(const PipelineLayout& layout, const Counts& block_sizes, const Payload& payload)
      : layout_(layout), block_sizes_(block_sizes), payload_(payload) {
    kept_.resize(as_index(layout.num_stages));
    kept_[0] = {0};  // stage 0 embeds the tokens
    if (payload.embedding == Embedding::omitted) std::fill(kept_.begin(), kept_.end(), kept_[0]);
  }

  Simulation walk() {
    std::set<Count> history = {0};
    for (std::size_t chunk = 0; chunk < layout_.chunk_layers.size(); ++chunk) {
      simulation_.history_on_entry.push_back(history);
      run_layers(chunk, history);
      if (chunk + 1 < layout_.chunk_layers.size()) history = hand_over(chunk + 1, history);
    }
    return simulation_;
  }

 private:
  void run_layers(std::size_t chunk, std::set<Count>& history) {
    std::set<Count>& kept = kept_[chunk % kept_.size()];
    for (Count layer = 0; layer < layout_.chunk_layers[chunk]; ++layer) {
      if (++layers_in_block_ < block_sizes_[as_index(block_ - 1)]) continue;
      history.insert(block_);
      if (payload_.cache == Cache::own) kept.insert(block_);
      ++block_;
      layers_in_block_ = 0;
    }
  }

  /// Returns what the receiver holds afterwards.
  std::set<Count> hand_over(std::size_t receiver, const std::set<Count>& history) {
    if (kept_.size() == 1) {
      simulation_.vectors.push_back(0);
      return history;
    }
    std::set<Count>& kept = kept_[receiver % kept_.size()];
    std::set<Count> wire;
    for (const Count id : history) {
      const bool is_free = id == 0 && payload_.embedding == Embedding::omitted;
      const bool is_kept = payload_.cache != Cache::none && kept.count(id) > 0;
      if (!is_free && !is_kept) wire.insert(id);
    }
    const bool partial = payload_.partial == PartialSum::sent && layers_in_block_ > 0;
    simulation_.vectors.push_back(static_cast<Count>(wire.size()) + (partial ? 1 : 0));
    std::set<Count> held = wire;
    if (payload_.cache != Cache::none || payload_.embedding == Embedding::omitted) {
      held.insert(kept.begin(), kept.end());
    }
    if (payload_.cache != Cache::none) kept.insert(wire.begin(), wire.end());
    return held;
  }

  PipelineLayout layout_;
  Counts block_sizes_;
  Payload payload_;
  std::vector<std::set<Count>> kept_;  ///< per stage
  Count block_ = 1;                    ///< the one being summed
  Count layers_in_block_ = 0;
  Simulation simulation_;
};

Count pick(Count low, Count high) { return *rc::gen::inRange<Count>(low, high + 1); }

struct RandomModel {
  PipelineLayout layout;
  Counts block_sizes;
};

RandomModel random_model() {
  RandomModel model{{pick(1, 6), pick(1, 4), {}}, {}};
  Count num_layers = 0;
  for (Count c = 0; c < model.layout.num_stages * model.layout.num_virtual_stages; ++c) {
    model.layout.chunk_layers.push_back(pick(0, 5));
    num_layers += model.layout.chunk_layers.back();
  }
  while (num_layers > 0) {
    model.block_sizes.push_back(pick(1, std::min<Count>(7, num_layers)));
    num_layers -= model.block_sizes.back();
  }
  return model;
}

RC_GTEST_PROP(PipelineTraffic, EqualsMovingSetsOfBlocksFromStageToStage, ()) {
  const auto [layout, block_sizes] = random_model();
  for (const Payload& payload : every_payload()) {
    const PipelineTraffic traffic = pipeline_traffic(layout, block_sizes, payload);
    const Simulation simulation = Walker(layout, block_sizes, payload).walk();
    RC_ASSERT(vectors_of(traffic) == simulation.vectors);
    RC_ASSERT(traffic.total ==
              std::accumulate(simulation.vectors.begin(), simulation.vectors.end(), Count{0}));
  }
}

RC_GTEST_PROP(PipelineMemory, CountsTheHistoriesOfTheChunksOfAStage, ()) {
  const auto [layout, block_sizes] = random_model();
  for (const Payload& payload : every_payload()) {
    const auto histories = Walker(layout, block_sizes, payload).walk().history_on_entry;
    Counts cached(as_index(layout.num_stages));
    Counts copies(as_index(layout.num_stages));
    for (std::size_t chunk = 0; chunk < histories.size(); ++chunk) {
      cached[chunk % cached.size()] = static_cast<Count>(histories[chunk].size());
      copies[chunk % copies.size()] += static_cast<Count>(histories[chunk].size());
    }
    RC_ASSERT(cached_blocks_per_stage(layout, block_sizes) == cached);
    RC_ASSERT(uncached_copies_per_stage(layout, block_sizes) == copies);
  }
}

RC_GTEST_PROP(PipelineTraffic, WithoutCacheIsTheClosedFormOfItsBoundary, ()) {
  const Count block_size = pick(1, 9);
  const Count num_blocks = pick(1, 12);
  const Count num_stages = pick(2, 6);
  const PipelineLayout layout = {num_stages, 1, even_chunks(64, 1, num_stages)};
  Counts block_sizes(as_index(num_blocks), block_size);
  RC_PRE(block_size * num_blocks < 64);
  block_sizes.push_back(64 - block_size * num_blocks);
  for (const Embedding embedding : kEmbeddings) {
    for (const PartialSum partial : kPartialSums) {
      const auto traffic = pipeline_traffic(layout, block_sizes, {Cache::none, embedding, partial});
      for (const Transition& t : traffic.transitions) {
        const Boundary here{.completed_blocks = t.end_block - 1, .open_layers = t.open_layers};
        RC_ASSERT(t.vectors == naive_transition(here, embedding, partial));
      }
    }
  }
}

RC_GTEST_PROP(PipelineTraffic, OfAlignedChunksIsEquation7And8, ()) {
  const Count P = pick(2, 8);
  const Count V = pick(1, 6);
  const Count N_p = pick(1, 4);
  const Count block_size = pick(1, 5);
  const PipelineLayout layout = {P, V, Counts(as_index(P * V), N_p * block_size)};
  const Counts block_sizes(as_index(P * V * N_p), block_size);
  const auto traffic = [&](Cache cache) {
    return pipeline_traffic(layout, block_sizes, {cache, Embedding::omitted, PartialSum::sent});
  };
  const auto per_chunk = static_cast<double>(N_p);
  const PipelineTraffic naive = traffic(Cache::none);
  const PipelineTraffic cached = traffic(Cache::received);
  RC_ASSERT(static_cast<double>(naive.total) == naive_traffic(P, V, per_chunk));
  RC_ASSERT(static_cast<double>(cached.total) == cached_traffic(P, V, per_chunk));
  RC_ASSERT(static_cast<double>(naive.peak) == test::naive_peak(P, V, per_chunk));
  RC_ASSERT(static_cast<double>(cached.peak) == test::cached_peak(P, V, per_chunk));
  RC_ASSERT(naive.transitions.back().vectors == naive.peak);
  // [ours] Keeping its own blocks spares a stage N_p of them at each later transition.
  RC_ASSERT(traffic(Cache::own).total == cached.total - (V - 1) * P * N_p);
  // The improvement of the peak is V - 1/P, here multiplied by P.
  if (V > 1) RC_ASSERT(naive.peak * P == cached.peak * (P * V - 1));
}

RC_GTEST_PROP(PipelineTraffic, ShrinksAtEveryTransitionWithWhatIsKept, ()) {
  const auto [layout, block_sizes] = random_model();
  for (const Embedding embedding : kEmbeddings) {
    for (const PartialSum partial : kPartialSums) {
      const auto vectors = [&, chunks = layout, blocks = block_sizes](Cache cache) {
        return vectors_of(pipeline_traffic(chunks, blocks, {cache, embedding, partial}));
      };
      const Counts none = vectors(Cache::none);
      const Counts received = vectors(Cache::received);
      const Counts own = vectors(Cache::own);
      for (std::size_t i = 0; i < none.size(); ++i) {
        RC_ASSERT(own[i] <= received[i]);
        RC_ASSERT(received[i] <= none[i]);
      }
    }
  }
}

RC_GTEST_PROP(PipelineTraffic, GainsNothingFromACacheWithOneVirtualStage, ()) {
  RandomModel model = random_model();
  model.layout.num_stages *= model.layout.num_virtual_stages;
  model.layout.num_virtual_stages = 1;
  for (const Payload& payload : every_payload()) {
    Payload naive = payload;
    naive.cache = Cache::none;
    RC_ASSERT(vectors_of(pipeline_traffic(model.layout, model.block_sizes, payload)) ==
              vectors_of(pipeline_traffic(model.layout, model.block_sizes, naive)));
  }
  const Count P = model.layout.num_stages;
  RC_ASSERT(naive_traffic(P, 1, 1) == cached_traffic(P, 1, 1));
}

RC_GTEST_PROP(PipelineTraffic, IsNothingOnOneStage, ()) {
  RandomModel model = random_model();
  model.layout.num_virtual_stages *= model.layout.num_stages;
  model.layout.num_stages = 1;
  for (const Payload& payload : every_payload()) {
    const PipelineTraffic traffic = pipeline_traffic(model.layout, model.block_sizes, payload);
    RC_ASSERT(traffic.transitions.size() + 1 == model.layout.chunk_layers.size());
    RC_ASSERT(traffic.total == 0);
    RC_ASSERT(traffic.peak == 0);
  }
  RC_ASSERT(uniform_traffic(model.layout, 4).total == 0);
}

RC_GTEST_PROP(EvenChunks, HoldEveryLayerAndDifferByAtMostOneDecoderLayer, ()) {
  const Count decoder_layers = pick(1, 200);
  const Count layers_per_decoder_layer = pick(1, 2);
  const Count num_chunks = pick(1, decoder_layers);
  const Counts chunks = even_chunks(decoder_layers, layers_per_decoder_layer, num_chunks);
  RC_ASSERT(static_cast<Count>(chunks.size()) == num_chunks);
  RC_ASSERT(std::accumulate(chunks.begin(), chunks.end(), Count{0}) ==
            decoder_layers * layers_per_decoder_layer);
  RC_ASSERT(std::is_sorted(chunks.rbegin(), chunks.rend()));
  RC_ASSERT(chunks.front() - chunks.back() <= layers_per_decoder_layer);
}

}  // namespace
}  // namespace depthcost::pipeline_properties_test
