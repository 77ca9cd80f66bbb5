// Tables beside the embedding, of which a token looks up a few rows.
#include <fmt/format.h>

#include "scenarios/import/hf_parts.hpp"

namespace depthcost {
namespace {

// Beyond any real table. They bound the search for primes, and no product of them overflows.
constexpr Count kMaxTokens = 64;  // of an n-gram
constexpr Count kMaxHeads = 1024;
constexpr Count kMaxHeadDim = Count{1} << 14;
constexpr Count kMaxHashRange = Count{1} << 30;
constexpr Count kMaxStreams = 256;

ConfigValue at_most(ConfigValue value, Count most) {
  if (value.count() > most) value.fail(fmt::format("more than {}", most));
  return value;
}

ImportedRecord table(const HfModel& model, const ConfigValue& where, Count rows, Count width,
                     Count projections, std::string source) {
  const auto member = [&](const std::string& key, Count count) {
    return ImportedValue{key, fmt::format("{}", count), where.position()};
  };
  return {{member("rows", rows), member("width", width), member("projections", projections)},
          fmt::format("derived from {}: {}", model.config.label(), source)};
}

bool is_prime(Count number) {
  if (number < 4) return number > 1;
  if (number % 2 == 0) return false;
  for (Count divisor = 3; divisor * divisor <= number; divisor += 2)
    if (number % divisor == 0) return false;
  return true;
}

/// Walks the primes upward.
class Primes {
 public:
  explicit Primes(Count start) : last_(start - 1) {}

  Count next() {
    do ++last_;
    while (!is_prime(last_));
    return last_;
  }

 private:
  Count last_;
};

/// The numbers of Qwen4-Exp's tables.
struct Ngrams {
  Count num_tables = 0;
  Count heads = 0;  // of one table
  Count width = 0;  // of what all heads find together
  Count base = 0;   // the first prime is no smaller
  Count step = 0;   // the rows of a table are a multiple of it
};

Ngrams read_ngrams(const HfModel& model, const ConfigValue& layers) {
  HfConfig& config = model.config;
  const std::string why = "of the tables of n-grams";
  for (const Count layer : layers.counts())
    if (layer > model.num_decoder_layers)
      layers.fail(fmt::format("holds {}; decoder layers count from 1 to {}", layer,
                              model.num_decoder_layers));
  const ConfigValue size = at_most(config.at({"ngram_size"}, why), kMaxTokens);
  if (size.count() < 2) size.fail("an n-gram has two tokens at least");
  const ConfigValue each = at_most(config.at({"heads_per_ngram"}, why), kMaxHeads);
  const Count heads = (size.count() - 1) * each.count();
  const auto num_tables = static_cast<Count>(layers.counts().size());
  if (heads * num_tables > kMaxHeads)
    each.fail(fmt::format("{} heads in all; more than {}", heads * num_tables, kMaxHeads));
  const ConfigValue width = at_most(config.at({"ple_embed_dim"}, why), kMaxHeads * kMaxHeadDim);
  if (width.count() % heads != 0) width.fail(fmt::format("no multiple of the {} heads", heads));
  return {
      .num_tables = num_tables,
      .heads = heads,
      .width = width.count(),
      .base = at_most(config.at({"ngram_vocab_size_base"}, why), kMaxHashRange).count(),
      .step =
          at_most(config.at({"make_ngram_vocab_size_divisible_by"}, why), kMaxHashRange).count()};
}

/// Qwen4-Exp hashes each n-gram of 2 .. ngram_size tokens by several heads. A head has as many rows
/// as a prime, the next after that of the head before it. All heads of a layer share one table,
/// whose rows are rounded up. A key for each stream, a value and a convolution take in what is
/// found: Qwen4ExpTextNGramEmbedding and Qwen4ExpTextPLELayer of transformers.
std::vector<ImportedRecord> ngram_tables(const HfModel& model) {
  HfConfig& config = model.config;
  config.ignore({"split_ngram_parts"});  // of the files
  const auto layers = config.find({"ple_layer_ids"});
  if (!layers || layers->counts().empty()) {
    config.ignore({"ple_embed_dim", "ple_conv_kernel_size", "ngram_size", "heads_per_ngram",
                   "ngram_vocab_size_base", "make_ngram_vocab_size_divisible_by"});
    return {};
  }
  const Ngrams ngrams = read_ngrams(model, *layers);
  const std::string why = "of the tables of n-grams";
  const Count streams = at_most(config.at({"hc_count"}, why), kMaxStreams).count();
  const Count kernel = at_most(config.at({"ple_conv_kernel_size"}, why), kMaxTokens).count();
  const Count wide = streams * model.hidden_size;
  const Count projections = (wide + model.hidden_size) * ngrams.width + wide * kernel;
  Primes primes(ngrams.base);
  std::vector<ImportedRecord> tables;
  for (Count i = 0; i < ngrams.num_tables; ++i) {
    Count rows = 0;
    for (Count head = 0; head < ngrams.heads; ++head) rows += primes.next();
    rows = (rows + ngrams.step - 1) / ngrams.step * ngrams.step;
    tables.push_back(table(
        model, *layers, rows, ngrams.width / ngrams.heads, projections,
        fmt::format("{}, ngram_size, heads_per_ngram, ngram_vocab_size_base, ple_embed_dim; "
                    "rows are the next {} primes, rounded up; projections to a key for each of {} "
                    "streams and a value, and a convolution",
                    layers->path(), ngrams.heads, streams)));
  }
  return tables;
}

/// DeepSeek-V4.1: the config gives the rows. One projection makes a key for each stream and a value
/// of all that is found: DeepseekV41Engram of transformers.
std::vector<ImportedRecord> engram_tables(const HfModel& model) {
  HfConfig& config = model.config;
  config.ignore({"engram_vocab_size", "engram_pad_token_id", "engram_compressed_vocab_size"});
  const std::string why = "of the tables of n-grams";
  const ConfigValue layers = config.at({"engram_layer_ids"}, why);
  const ConfigValue rows = config.at({"engram_num_embeddings"}, why);
  const ConfigValue size = at_most(config.at({"engram_max_ngram_size"}, why), kMaxTokens);
  const ConfigValue heads = at_most(config.at({"engram_n_heads"}, why), kMaxTokens);
  const ConfigValue width = at_most(config.at({"engram_head_dim"}, why), kMaxHeadDim);
  const ConfigValue streams = at_most(config.at({"hc_mult"}, why), kMaxStreams);
  const std::vector<Count> all_rows = rows.counts();
  if (all_rows.size() != layers.counts(Range::non_negative).size())
    rows.fail(fmt::format("{} entries; {} has {}", all_rows.size(), layers.path(),
                          layers.counts(Range::non_negative).size()));
  const Count found = (size.count() - 1) * heads.count() * width.count();
  const Count projections = found * model.hidden_size * (streams.count() + 1);
  std::vector<ImportedRecord> tables;
  for (const Count count : all_rows)
    tables.push_back(
        table(model, rows, count, width.count(), projections,
              fmt::format("{}, engram_head_dim; a projection of {} rows to a key for each of {} "
                          "streams and a value",
                          rows.path(), (size.count() - 1) * heads.count(), streams.count())));
  return tables;
}

/// Gemma 3n and 4: a short vector for each layer and token, of the token's own row and of a
/// projection of its embedding; a gate and a projection in each layer take it in.
std::vector<ImportedRecord> per_layer_tables(const HfModel& model) {
  HfConfig& config = model.config;
  const std::string why = "of the embeddings for each layer";
  const ConfigValue rows = config.at({"vocab_size_per_layer_input"}, why);
  const ConfigValue size = config.at({"hidden_size_per_layer_input"}, why);
  if (size.count(Range::non_negative) == 0) return {};
  const ConfigValue each = at_most(size, kMaxHeadDim);
  const Count width = model.num_decoder_layers * each.count();
  ImportedRecord record =
      table(model, rows, rows.count(), width, 3 * model.hidden_size * width,
            fmt::format("{}, {} x {} layers; a projection of the embedding, and a gate and a "
                        "projection in each layer",
                        rows.path(), each.path(), model.num_decoder_layers));
  // Lists of what is quantised are of linear layers: an embedding stays in the model's dtype.
  if (config.find({"quantization_config"}))
    record.members.push_back({"dtype", import_dtype(model).value.text, size.position()});
  return {record};
}

}  // namespace

std::vector<ImportedRecord> import_tables(const HfModel& model) {
  switch (model.type.tables) {
    case Tables::none:
      return {};
    case Tables::ngram:
      return ngram_tables(model);
    case Tables::engram:
      return engram_tables(model);
    case Tables::per_layer:
      return per_layer_tables(model);
  }
  return {};
}

}  // namespace depthcost
