// The time formula, term by term.
#include "model/machine/time.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "model/operations/attnres_operations.hpp"

namespace depthcost {
namespace {

constexpr Bytes kNever{std::numeric_limits<double>::infinity()};

Bytes vector_bytes(Operand operand, const VectorStorage& storage_types) {
  const Dtype dtype =
      operand == Operand::phase1_output ? storage_types.phase1_dtype : storage_types.dtype;
  return storage(storage_types.hidden_size, dtype);
}

double recent_rows(const Operation& operation) {
  double rows = 0;
  for (const Access& access : operation.accesses)
    if (access.operand == Operand::recent) rows += std::max(access.reads_d, access.writes_d);
  return rows;
}

/// Rows that a call touches at least: what it updates in place counts once.
double distinct_rows(const Operation& operation) {
  double rows = 0;
  for (const Access& access : operation.accesses) rows += std::max(access.reads_d, access.writes_d);
  return rows;
}

Bytes token_bytes(const Operation& operation, const Execution& execution) {
  return execution.tokens * bytes(traffic(operation), execution.storage);
}

/// Bytes between two uses of an operand by a kernel that is called again and again: between what
/// it touches in place and all of its traffic, by whether it has a buffer of its own for results.
Bytes distance_alone(const Operation& operation, const Execution& execution,
                     IntervalEnd residency) {
  if (execution.temperature == Temperature::cold) return kNever;
  if (residency != IntervalEnd::low) return launch_bytes(operation, execution);
  const double distinct = distinct_rows(operation) / total_d(traffic(operation));
  return distinct * token_bytes(operation, execution) +
         parameter_bytes(operation, execution.storage);
}

/// Bytes between the last use of an operand and this one.
Bytes reuse_distance(const Operation& operation, Operand operand, const Execution& execution,
                     IntervalEnd residency) {
  if (execution.temperature) return distance_alone(operation, execution, residency);
  const Bytes vectors = execution.tokens * vector_bytes(operand, execution.storage);
  if (operand == Operand::layer_output || operand == Operand::layer_input) return vectors;
  if (operand == Operand::recent) return recent_rows(operation) * vectors;
  const bool old = operand == Operand::bank || operand == Operand::phase1_output;
  const double age = old ? execution.bank_age : 1;
  const Bytes own_traffic = launch_bytes(operation, execution);
  if (execution.layer_bytes) return age * (*execution.layer_bytes + own_traffic);
  return residency == IntervalEnd::low ? age * own_traffic : kNever;
}

/// Bytes between the last use of a parameter and this one: a forward pass lies between.
Bytes parameter_distance(const Operation& operation, const Execution& execution,
                         IntervalEnd residency) {
  if (execution.temperature) return distance_alone(operation, execution, residency);
  const Bytes own_traffic = launch_bytes(operation, execution);
  if (execution.layer_bytes)
    return execution.parameter_age * (*execution.layer_bytes + own_traffic);
  return residency == IntervalEnd::low ? execution.parameter_age * own_traffic : kNever;
}

double interpolate(const std::vector<TransitionPoint>& points, Bytes footprint) {
  if (footprint <= points.front().footprint) return points.front().memory_weight;
  if (footprint >= points.back().footprint) return points.back().memory_weight;
  std::size_t i = 1;
  while (points[i].footprint < footprint) ++i;
  const double share =
      (footprint - points[i - 1].footprint) / (points[i].footprint - points[i - 1].footprint);
  return points[i - 1].memory_weight +
         share * (points[i].memory_weight - points[i - 1].memory_weight);
}

BytesPerSecond at_mix(const std::vector<MixBandwidth>& points, double read_share, IntervalEnd end) {
  if (read_share <= points.front().read_share) return at(points.front().bandwidth, end);
  if (read_share >= points.back().read_share) return at(points.back().bandwidth, end);
  std::size_t i = 1;
  while (points[i].read_share < read_share) ++i;
  const double share =
      (read_share - points[i - 1].read_share) / (points[i].read_share - points[i - 1].read_share);
  const BytesPerSecond below = at(points[i - 1].bandwidth, end);
  return below + share * (at(points[i].bandwidth, end) - below);
}

/// The points were measured with kernels whose threads find again what they touched themselves.
double weight_at(const Machine& machine, Bytes distance) {
  if (machine.transition.empty() || machine.cache_bandwidth.empty()) return 1;
  const double share = machine.few_tokens ? machine.few_tokens->cache_share : 1;
  return interpolate(machine.transition, (1 / share) * distance);
}

/// One byte that was last used so many bytes ago, by the level that serves it.
ServedBytes served_from(const Machine& machine, Bytes distance) {
  if (machine.core && distance <= machine.core->second_level) return {.near = 1};
  const double weight = weight_at(machine, distance);
  return {.memory = weight, .cache = 1 - weight};
}

/// A CPU's kernel reads what the tokens of a tile share again for the next tile, which has moved
/// its tokens in between.
ServedBytes read_again(const Machine& machine, const Operation& operation,
                       const Execution& execution) {
  if (!machine.core || core_work(operation).tile_rows == 0) return {};
  const double threads = machine.core->threads;
  const double tiles = threads * tiles_of_thread(execution.tokens, threads);
  const Bytes parameters = parameter_bytes(operation, execution.storage);
  const Bytes tile =
      std::min(1.0, kTokensPerTile / execution.tokens) * token_bytes(operation, execution);
  return (std::max(0.0, tiles - 1) * parameters.value) * served_from(machine, parameters + tile);
}

void add_parameters(const Machine& machine, const Operation& operation, const Execution& execution,
                    IntervalEnd residency, LevelBytes& sum) {
  const Bytes moved = parameter_bytes(operation, execution.storage);
  if (moved.value == 0) return;
  const ServedBytes from =
      served_from(machine, parameter_distance(operation, execution, residency));
  sum.coldest = std::max(sum.coldest, from.memory);
  sum.parameters = moved.value * from + read_again(machine, operation, execution);
}

LevelBytes level_bytes(const Machine& machine, const Operation& operation,
                       const Execution& execution, IntervalEnd residency) {
  LevelBytes sum;
  for (const Access& access : operation.accesses) {
    const double rows = access.reads_d + access.writes_d;
    if (rows == 0) continue;
    const double moved =
        (execution.tokens * rows * vector_bytes(access.operand, execution.storage)).value;
    const ServedBytes from =
        served_from(machine, reuse_distance(operation, access.operand, execution, residency));
    sum.coldest = std::max(sum.coldest, from.memory);
    sum.tokens += moved * from;
    sum.reads += moved * access.reads_d / rows;
  }
  // Loose scalars are written by the kernel before: they lie where its d-vectors do.
  const double scalars =
      execution.tokens * kBytesPerScalar * (operation.reads_scalars + operation.writes_scalars);
  const double vectors = sum.tokens.total();
  if (vectors > 0) {
    sum.tokens = (1 + scalars / vectors) * sum.tokens;
  } else if (scalars > 0) {
    const Bytes distance =
        execution.temperature ? distance_alone(operation, execution, residency) : Bytes{scalars};
    sum.tokens = scalars * served_from(machine, distance);
    sum.coldest = sum.tokens.memory / scalars;
  }
  sum.reads += execution.tokens * kBytesPerScalar * operation.reads_scalars;
  add_parameters(machine, operation, execution, residency, sum);
  return sum;
}

/// Memory bandwidth that `in_flight` bytes can draw: min(cap, B q / (q + h)). Where a token's way
/// through its CTAs is known, that is what few bytes take.
BytesPerSecond drawn_bandwidth(const Machine& machine, BytesPerSecond cap, double in_flight) {
  if (machine.few_tokens) return cap;
  const double uncapped = kUncappedOverCeiling * cap.value;
  const double h = machine.half_saturation.value * uncapped;
  return {std::min(cap.value, uncapped * in_flight / (in_flight + h))};
}

/// Sustained by memory at the operation's own mix, or where nobody has measured that, at its share
/// of reads.
BytesPerSecond memory_bandwidth(const Machine& machine, const Operation& operation,
                                double read_share, IntervalEnd end) {
  const Mix mix = mix_of(operation);
  for (const ExactMixBandwidth& entry : machine.exact_bandwidth)
    if (entry.mix == mix) return at(entry.bandwidth, end);
  return at_mix(machine.memory_bandwidth, read_share, end);
}

/// What a kernel takes of the bandwidth of plain streams.
double share_of_bandwidth(const Machine& machine, const TokenWork& work, const Corner& corner) {
  if (!machine.few_tokens) return 1;
  const FewTokens& constants = *machine.few_tokens;
  const double efficiency = work.projection == Projection::none ? constants.stream_efficiency
                                                                : constants.projection_efficiency;
  return efficiency / at(constants.kernel_scatter, corner.kernels);
}

/// `served` at a mix of its own, while `in_flight` bytes in all come from memory.
Seconds served_time(const Machine& machine, const ServedBytes& served, BytesPerSecond from_memory,
                    double read_share, double in_flight, double share, const Corner& corner) {
  // The optimistic end of an interval may lie above what the hardware can do; no kernel does.
  Seconds time;
  if (served.memory > 0) {
    const BytesPerSecond cap = std::min(share * from_memory, machine.memory_ceiling);
    time += Bytes{served.memory} / drawn_bandwidth(machine, cap, in_flight);
  }
  if (served.cache > 0) {
    const BytesPerSecond cap =
        at_mix(machine.cache_bandwidth, read_share, opposite(corner.bandwidth));
    time += Bytes{served.cache} / std::min(share * cap, machine.cache_ceiling);
  }
  return time;
}

/// Parameters are read, and nothing else: the tokens' mix is not theirs.
Seconds bytes_time(const Machine& machine, const Operation& operation, const TokenWork& work,
                   const LevelBytes& moved, const Corner& corner) {
  const IntervalEnd end = opposite(corner.bandwidth);
  const double in_flight = moved.all().memory;
  const double read_share = moved.tokens.total() > 0 ? moved.reads / moved.tokens.total() : 1;
  const double share = share_of_bandwidth(machine, work, corner);
  return served_time(machine, moved.tokens, memory_bandwidth(machine, operation, read_share, end),
                     read_share, in_flight, share, corner) +
         served_time(machine, moved.parameters, at_mix(machine.memory_bandwidth, 1, end), 1,
                     in_flight, share, corner);
}

Seconds floor_at(const Machine& machine, const Operation& operation, Launch launch, Level level,
                 IntervalEnd end) {
  for (const LaunchFloor& entry : machine.floors)
    if (entry.launch == launch && entry.level == level && entry.skeleton == operation.skeleton)
      return at(entry.floor, end);
  return {};
}

/// One launch.
Seconds floor_time(const Machine& machine, const Operation& operation, const Execution& execution,
                   double coldest, IntervalEnd end) {
  const auto floor = [&](Level level) {
    return floor_at(machine, operation, execution.launch, level, end);
  };
  // A start from the cache is never the slower one. Intervals from different sources may cross.
  const Seconds warm = std::min(floor(Level::cache), floor(Level::memory));
  // A kernel that is measured alone has none before it that could hide its start.
  if (!execution.temperature && launches_ahead(machine, execution.launch)) return warm;
  return coldest * floor(Level::memory) + (1 - coldest) * warm;
}

/// Bytes that a token's CTAs go through one after the other: what they load, and what Phase 1 works
/// out for later layers.
Bytes token_bytes_in_turn(const Operation& operation, const VectorStorage& types) {
  Bytes bytes{kBytesPerScalar * operation.reads_scalars};
  for (const Access& access : operation.accesses) {
    const double stored = access.operand == Operand::phase1_output ? access.writes_d : 0;
    bytes += (access.reads_d + stored) * vector_bytes(access.operand, types);
  }
  return bytes;
}

/// Rounds of tokens that one after the other fill all multiprocessors.
double waves_of(const FewTokens& constants, const TokenWork& work, double tokens) {
  return std::ceil(tokens * ctas_per_token(work.loads) / as_double(constants.num_multiprocessors));
}

/// One wave.
Seconds token_time(const FewTokens& constants, const TokenWork& work, const Operation& operation,
                   const Execution& execution, IntervalEnd end) {
  const BytesPerSecond draw =
      at(work.loads == RowLoads::loop ? constants.loop_draw : constants.ring_draw, opposite(end));
  return token_bytes_in_turn(operation, execution.storage) / draw;
}

/// Weights of a projection that every token's CTA takes whole. The cache serves them all, and those
/// of later tokens come while others compute.
Seconds projection_time(const Machine& machine, const TokenWork& work, const Operation& operation,
                        const Execution& execution, IntervalEnd end) {
  if (work.projection != Projection::whole) return {};
  const FewTokens& constants = *machine.few_tokens;
  const double at_work = std::min(execution.tokens, as_double(constants.num_multiprocessors));
  const auto& levels =
      machine.cache_bandwidth.empty() ? machine.memory_bandwidth : machine.cache_bandwidth;
  const BytesPerSecond taken =
      at(constants.projection_reuse, opposite(end)) * at_mix(levels, 1, IntervalEnd::value);
  return at_work * (parameter_bytes(operation, execution.storage) / taken);
}

/// Few tokens leave a product's CTAs as alone as those of streams. Such kernels are shipped for the
/// parts that have rings: SM100. Elsewhere they count as no slower than a library's.
Seconds product_time(const FewTokens& constants, const TokenWork& work, const Operation& operation,
                     const Execution& execution, IntervalEnd end) {
  if (work.product != ProductKernel::engine || constants.style.attnres_loads != RowLoads::ring)
    return {};
  return product_bytes_in_turn(constants.num_multiprocessors, operation, execution.storage,
                               execution.tokens) /
         at(constants.loop_draw, opposite(end));
}

Seconds waiting_time(const FewTokens& constants, const TokenWork& work, IntervalEnd end) {
  return work.coefficient_steps * at(constants.coefficient_step, end) +
         work.sinkhorn_steps * at(constants.sinkhorn_step, end);
}

TokenWork with_projection(TokenWork work, Projection projection) {
  if (projection == Projection::split) {
    work.launches += work.launches_of_split;
    work.coefficient_steps += work.launches_of_split;
  }
  work.projection = projection;
  return work;
}

/// The terms of a GPU's kernel from those of launch, bytes and operations alone. What the host
/// kernel takes longer with an operation inside is the host's, shared by all schemes, and no more
/// than a launch.
TimeTerms with_kernels(const Machine& machine, const Operation& operation, const TokenWork& work,
                       const Execution& execution, TimeTerms terms, const Corner& corner) {
  const FewTokens& constants = *machine.few_tokens;
  const IntervalEnd end = corner.kernels;
  const double share = work.loads == RowLoads::loop ? constants.floor_share : 1;
  // The first of an operation's kernels hides the start of the next one.
  const double ahead =
      launches_ahead(machine, execution.launch) ? machine.engine.floor_of_launched_ahead : 1;
  terms.floor = operation.launches == 0
                    ? std::min(at(constants.folded_call, corner.floor), terms.floor)
                    : (1 + (work.launches - 1) * ahead) * share * terms.floor;
  // Rates are the datasheet's: no kernel is faster.
  terms.operations = std::max(1.0, at(constants.kernel_scatter, end)) * terms.operations;
  const Seconds steps = waiting_time(constants, work, end) +
                        projection_time(machine, work, operation, execution, end) +
                        product_time(constants, work, operation, execution, end);
  const double waves = waves_of(constants, work, execution.tokens);
  // The second CTA of a multiprocessor loads while the first computes. Later ones find it busy.
  const bool overlaps = work.projection != Projection::none && waves > 1;
  const double hidden = overlaps ? 1 - constants.projection_wave : 0;
  const Seconds draws = (waves - hidden) * token_time(constants, work, operation, execution, end);
  terms.token = draws + steps;
  // With many waves the draws are no latency any more: all multiprocessors draw at once.
  if (waves > 1 && draws > std::max(steps, terms.bytes))
    terms.bytes = std::exchange(terms.token, {});
  return terms;
}

/// `terms` with the faster projection, where there are two kernels for it.
TimeTerms with_few_tokens(const Machine& machine, const Operation& operation, const TokenWork& work,
                          const Execution& execution, const TimeTerms& terms,
                          const Corner& corner) {
  const auto of = [&](Projection projection) {
    return with_kernels(machine, operation, with_projection(work, projection), execution, terms,
                        corner);
  };
  if (work.projection != Projection::either) return of(work.projection);
  const TimeTerms whole = of(Projection::whole);
  const TimeTerms split = of(Projection::split);
  return whole.total() < split.total() ? whole : split;
}

CoreTime operations_time(const Machine& machine, const Operation& operation,
                         const Execution& execution) {
  const VectorStorage& types = execution.storage;
  if (is_exchange(operation)) return {};
  if (machine.core)
    return core_time(*machine.core, operation, execution.tokens, types.hidden_size, types.dtype);
  const std::optional<FlopsPerSecond>& rate =
      operation.unit == ExecutionUnit::tensor_cores ? machine.tensor_rate : machine.vector_rate;
  if (!rate) return {};
  return {.beside = Flops{execution.tokens * types.hidden_size * operation.flops_d} / *rate};
}

/// The weakest constant that enters a launch which moves `moved`.
Evidence machine_evidence(const Machine& machine, const Operation& operation, Launch launch,
                          const LevelBytes& moved) {
  Evidence worst = Evidence::measured;
  const auto enters = [&](const std::vector<MixBandwidth>& points) {
    for (const MixBandwidth& entry : points) worst = weakest(worst, entry.bandwidth.evidence);
  };
  if (moved.all().memory > 0) enters(machine.memory_bandwidth);
  if (moved.all().cache > 0) enters(machine.cache_bandwidth);
  for (const LaunchFloor& entry : machine.floors) {
    const bool is_reached = entry.level == Level::memory ? moved.coldest > 0 : moved.coldest < 1;
    if (operation.launches > 0 && entry.launch == launch && entry.skeleton == operation.skeleton &&
        is_reached)
      worst = weakest(worst, entry.floor.evidence);
  }
  return worst;
}

/// What a kernel for a product takes beside its bytes: the constant of MLPs.
Seconds product_floor(const Machine& machine, ProductKernel kernel, Launch launch,
                      IntervalEnd end) {
  const bool is_ahead = kernel == ProductKernel::engine && launches_ahead(machine, launch);
  const double share = is_ahead ? machine.engine.floor_of_launched_ahead : 1;
  return share * at(machine.engine.floor_of(machine.engine.mlp, StepKind::dense), end);
}

}  // namespace

double memory_weight(const Machine& machine, const Operation& operation, Operand operand,
                     const Execution& execution, IntervalEnd residency) {
  return weight_at(machine, reuse_distance(operation, operand, execution, residency));
}

LaunchTime::LaunchTime(const Machine& machine, const Operation& operation,
                       const Execution& execution)
    : machine_(machine),
      operation_(operation),
      execution_(execution),
      core_(operations_time(machine, operation, execution)),
      work_(machine.few_tokens && !is_exchange(operation)
                ? token_work(operation, machine.few_tokens->style)
                : TokenWork{}),
      residual_(residual_of(machine, operation.id)),
      stack_(machine.few_tokens ? stack_factor(*machine.few_tokens, operation)
                                : Estimate<double>{1, 1, 1}),
      exchange_(is_exchange(operation) ? exchange_time(machine, operation, execution).value()
                                       : Estimate<Seconds>{}),
      at_best_(level_bytes(machine, operation, execution, IntervalEnd::low)),
      moved_(level_bytes(machine, operation, execution, IntervalEnd::value)) {}

const LevelBytes& LaunchTime::moved(IntervalEnd residency) const {
  return residency == IntervalEnd::low ? at_best_ : moved_;
}

Seconds LaunchTime::floor(const Corner& corner) const {
  const Seconds plain =
      floor_time(machine_, operation_, execution_, moved(corner.residency).coldest, corner.floor);
  if (work_.product == ProductKernel::none) return plain;
  return std::max(plain, product_floor(machine_, work_.product, execution_.launch, corner.floor));
}

Seconds LaunchTime::bytes(const Corner& corner) const {
  return bytes_time(machine_, operation_, work_, moved(corner.residency), corner);
}

TimeTerms LaunchTime::terms(Seconds floor, Seconds bytes, const Corner& corner) const {
  if (is_exchange(operation_)) return {.transfer = at(exchange_, corner.kernels)};
  TimeTerms terms{.floor = floor,
                  .bytes = bytes,
                  .operations = core_.beside,
                  .on_top = core_.on_top + core_.exposed * std::min(bytes, core_.beside)};
  if (machine_.few_tokens)
    terms = with_few_tokens(machine_, operation_, work_, execution_, terms, corner);
  else if (operation_.launches == 0)
    terms.floor = {};
  return (at(residual_, corner.bandwidth) * at(stack_, corner.kernels)) * terms;
}

TimeTerms LaunchTime::terms(const Corner& corner) const {
  return terms(floor(corner), bytes(corner), corner);
}

// The bits of a corner's place are its ends. The first corner with the same ends comes first.
std::array<TimeTerms, kCorners.size()> LaunchTime::corner_terms() const {
  constexpr std::size_t kOfFloor = kFloorBit | kResidencyBit;
  constexpr std::size_t kOfBytes = kBandwidthBit | kResidencyBit | kKernelsBit;
  std::array<Seconds, kCorners.size()> floors;
  std::array<Seconds, kCorners.size()> bytes_times;
  std::array<TimeTerms, kCorners.size()> corners;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Corner& corner = kCorners[i];
    if ((i & kOfFloor) == i) floors[i] = floor(corner);
    if ((i & kOfBytes) == i) bytes_times[i] = bytes(corner);
    corners[i] = terms(floors[i & kOfFloor], bytes_times[i & kOfBytes], corner);
  }
  return corners;
}

TimeTerms LaunchTime::bounds() const {
  if (is_exchange(operation_)) return {};
  const ServedBytes moved = at_best_.all();
  Seconds bytes = Bytes{moved.memory} / machine_.memory_ceiling;
  // What a GPU's memory serves passes through its cache too; a CPU's streaming stores do not.
  const double through_cache = moved.cache + (machine_.core ? 0 : moved.memory);
  if (moved.cache > 0) bytes = std::max(bytes, Bytes{through_cache} / machine_.cache_ceiling);
  const double share = machine_.few_tokens ? std::min(1.0, machine_.few_tokens->floor_share) : 1;
  const Seconds floor = operation_.launches == 0
                            ? Seconds{}
                            : share * floor_time(machine_, operation_, execution_, at_best_.coldest,
                                                 IntervalEnd::low);
  if (machine_.core) return {.floor = floor, .bytes = bytes};
  return {.floor = floor, .bytes = bytes, .operations = core_.beside};
}

Seconds LaunchTime::bound() const {
  const TimeTerms least = bounds();
  return std::max({least.floor, least.bytes, least.operations});
}

Evidence LaunchTime::evidence() const {
  if (is_exchange(operation_)) return exchange_.evidence;
  // Where residency makes no difference, not knowing it costs nothing.
  const Evidence residency =
      at_best_.all().memory == moved_.all().memory ? Evidence::measured : Evidence::assumed;
  const TimeTerms middle = terms({});
  // Draws and steps are others' kernels', on other parts, and so is what folding costs.
  const bool rests_on_few_tokens =
      machine_.few_tokens &&
      (operation_.launches == 0 || middle.token >= std::max(middle.bytes, middle.operations));
  const Evidence token =
      rests_on_few_tokens ? machine_.few_tokens->loop_draw.evidence : Evidence::measured;
  // Arithmetic rates of GPUs come from datasheets: nobody has measured them on these kernels.
  const Evidence rates = machine_.core ? Evidence::calibrated : Evidence::datasheet;
  const bool is_arithmetic = middle.operations + middle.on_top > middle.bytes;
  const Evidence rate = is_arithmetic ? rates : Evidence::measured;
  return weakest(
      weakest(rate, token),
      weakest(residency, machine_evidence(machine_, operation_, execution_.launch, moved_)));
}

Seconds critical_time(const Operation& operation, const Execution& execution,
                      const TimeTerms& terms) {
  const double queries = hoistable_queries(operation);
  if (queries == 0) return terms.total();
  const VectorStorage& types = execution.storage;
  const Bytes later =
      execution.tokens *
          bytes(Traffic{.writes_d = queries, .writes_scalars = 2 * queries, .phase1_d = queries},
                types) +
      storage(operations::kQuery_d * queries * types.hidden_size, kParameterDtype);
  const double scores_and_mixes_d =
      kFlopsPerPair * static_cast<double>(operation.sources) * queries;
  const double bytes_share = 1 - later / launch_bytes(operation, execution);
  const double operations_share = 1 - scores_and_mixes_d / operation.flops_d;
  const double token_share = 1 - queries * vector_bytes(Operand::phase1_output, types) /
                                     token_bytes_in_turn(operation, types);
  return terms.floor +
         std::max({bytes_share * terms.bytes, operations_share * terms.operations,
                   token_share * terms.token}) +
         operations_share * terms.on_top;
}

TimeTerms stream_terms(const Machine& machine, Launch launch, double num_kernels, Bytes reads,
                       Bytes writes, const Corner& corner) {
  const Operation plain{.skeleton = Skeleton::row_reduction};
  const Seconds floor = floor_at(machine, plain, launch, Level::memory, corner.floor);
  TimeTerms terms{.floor = num_kernels * floor};
  const Bytes all = reads + writes;
  if (all.value == 0) return terms;
  const double share = share_of_bandwidth(machine, TokenWork{}, corner);
  const BytesPerSecond cap =
      std::min(share * at_mix(machine.memory_bandwidth, reads / all, opposite(corner.bandwidth)),
               machine.memory_ceiling);
  terms.bytes = all / drawn_bandwidth(machine, cap, all.value);
  return at(machine.residual, corner.bandwidth) * terms;
}

Bytes exchange_bytes(const Operation& operation, const Execution& execution) {
  const Exchange& exchange = operation.exchange;
  return execution.tokens *
         bytes(Traffic{.writes_d = exchange.vectors_d, .writes_scalars = exchange.scalars},
               execution.storage);
}

std::optional<Estimate<Seconds>> exchange_time(const Machine& machine, const Operation& operation,
                                               const Execution& execution) {
  const Exchange& exchange = operation.exchange;
  return transfer_time(machine, exchange.kind, exchange.num_ranks,
                       exchange_bytes(operation, execution));
}

Bytes parameter_bytes(const Operation& operation, const VectorStorage& types) {
  const double per_weight = types.bytes_per_weight.value_or(bytes_per_element(types.dtype));
  return storage(parameter_elements(operation, types.hidden_size), kParameterDtype) +
         Bytes{operation.weights_d * types.hidden_size * per_weight};
}

Bytes launch_bytes(const Operation& operation, const Execution& execution) {
  return token_bytes(operation, execution) + parameter_bytes(operation, execution.storage);
}

}  // namespace depthcost
