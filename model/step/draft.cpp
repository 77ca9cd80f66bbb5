// One pass of a small model, several times.
#include "model/step/draft.hpp"

namespace depthcost {

const DraftLayers* draft_of(const Study& study) {
  if (!study.decode || study.decode->speculation.tokens < 2 || !study.model.architecture)
    return nullptr;
  const auto& draft = study.model.architecture->draft;
  return draft ? &*draft : nullptr;
}

Study draft_study(const Study& study, const DraftLayers& draft) {
  const Count layers = draft.block ? draft.num_layers : 1;
  Study alone = study;
  alone.model.num_layers = 2 * layers;
  Architecture& architecture = *alone.model.architecture;
  architecture.attention = {{draft.attention, layers}};
  architecture.mlp = {{draft.mlp, layers}};
  architecture.tables.clear();
  if (draft.projections > 0)
    architecture.tables = {{.projections = draft.projections * layers / draft.num_layers}};
  architecture.draft.reset();
  return alone;
}

std::vector<ForwardPass> draft_passes(const Study& study, const DraftLayers& draft,
                                      const std::vector<ForwardPass>& checking) {
  const Count drafted = study.decode->speculation.tokens - 1;
  const Count at_once = draft.block.value_or(1);
  std::vector<ForwardPass> passes;
  for (ForwardPass pass : checking) {
    pass.sequence.tokens = as_double(at_once);
    pass.written_states = as_double(at_once);
    pass.repeats *= as_double(divided_up(drafted, at_once));
    pass.prompt.reset();
    passes.push_back(pass);
  }
  return passes;
}

}  // namespace depthcost
