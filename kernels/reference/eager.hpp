// The pieces of an AttnRes layer that a framework's eager mode launches one by one: the code of
// the paper's Fig. 2, line by line.
#pragma once

#include "kernels/operations/eager.hpp"
#include "kernels/reference/accessor.hpp"

namespace depthcost::reference {

template <class T, class Access = DirectAccess>
void run(const UnfusedRmsNorm<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Row x = next_norm(load_row(access, row_at(op.input, t, d), d), op.norm);
    store_row(access, row_at(op.output, t, d), x);
  }
}

/// V = torch.stack(blocks + [partial_block]).
template <class T, class Access = DirectAccess>
void run(const UnfusedStack<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t s = 0; s < op.num_sources; ++s)
    for (std::size_t t = 0; t < op.num_tokens; ++t) {
      Row v = load_row(access, row_at(op.sources[s], t, d), d);
      store_row(access, row_at(op.stack, s * op.num_tokens + t, d), v);
    }
}

/// K = norm(V).
template <class T, class Access = DirectAccess>
void run(const UnfusedKeyNorm<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t i = 0; i < op.num_sources * op.num_tokens; ++i) {
    Row k = rms_norm(load_row(access, row_at(op.stack, i, d), d), op.key_eps);
    store_row(access, row_at(op.keys, i, d), k);
  }
}

/// logits = einsum('d, n b t d -> n b t', w, K).
template <class T, class Access = DirectAccess>
void run(const UnfusedScores<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  const Row w = parameters(op.query, d);
  for (std::size_t i = 0; i < op.num_sources * op.num_tokens; ++i)
    access.store(op.logits + i, dot(w, load_row(access, row_at(op.keys, i, d), d)));
}

/// h = einsum('n b t, n b t d -> b t d', logits.softmax(0), V).
template <class T, class Access = DirectAccess>
void run(const UnfusedMix<T>& op, Access&& access = {}) {
  const std::size_t d = op.hidden_size;
  for (std::size_t t = 0; t < op.num_tokens; ++t) {
    Row logits;
    for (std::size_t s = 0; s < op.num_sources; ++s)
      logits.push_back(access.load(op.logits + s * op.num_tokens + t));
    const Rows V = load_rows(access, row_at(op.stack, t, d), op.num_sources, op.num_tokens * d, d);
    Row h = weighted_sum(softmax(std::move(logits)), V);
    store_row(access, row_at(op.output, t, d), h);
  }
}

}  // namespace depthcost::reference
