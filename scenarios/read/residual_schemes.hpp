// Reads the residual schemes of a scenario and their parameters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/schemes/scheme.hpp"
#include "model/step/study.hpp"
#include "scenarios/keys/values.hpp"

namespace depthcost {

/// Key residual.NAME of the scenario, or else of its model; or null.
const Value* residual_value(const Values& scenario, const Values& model, const std::string& name);

/// Elements of a token's values in the first attention that keeps a key and a value for each head;
/// d where none does.
Count size_of_values(const Transformer& model);

/// Reads the parameters that are written, and adds the defaults of those in `schemes` at the place
/// that names the scheme. A block size that follows from a number of blocks counts as written. A
/// key that none of `schemes` takes gets a warning.
void read_scheme_parameters(Values& scenario, const Values& model,
                            const std::vector<std::string>& schemes,
                            std::optional<Count> counted_block_size, SchemeParameters& parameters);

/// The scheme on a model of L layers. Throws InputError for parameters outside its range.
Scheme scheme_of(const SchemeRule& rule, const SchemeParameters& parameters, Count num_layers,
                 const Values& scenario, const Values& model);

/// Where the schemes' own matrices lie, and their type. Throws InputError where no scheme has such,
/// or ranks cannot divide them. Before `scheme_of`.
void read_scheme_weights(const Values& scenario, const std::vector<std::string>& schemes,
                         Study& study);

/// The type of the streams of schemes that ship with another than the model's. Throws InputError
/// where no scheme has such streams, and for a type that is narrower. Before `scheme_of`.
void read_stream_type(const Values& scenario, const Values& model,
                      const std::vector<std::string>& schemes, Study& study);

/// Throws InputError if the machine cannot say how long ranks that divide matrices take to meet.
void check_exchanges(const Values& scenario, const Study& study);

/// Warns of a schedule that nobody can run, or cannot train by, where the scenario asks for one.
void warn_of_bound(Values& scenario, const Study& study);

}  // namespace depthcost
