// Which tokens each stream reads: pure functions of (stream, step), so that resuming needs no state.
#include "data/streams.h"

#include <algorithm>
#include <atomic>

#include "data/rows.h"
#include "eggroll/threads.h"

namespace eggroll {
namespace {

// Where stream s begins among n things. In range up to 2^40 things and 2^24 streams.
uint64_t share(uint64_t s, uint64_t n, uint64_t streams) { return s * n / streams; }

void read_token(const Tokens& tokens, uint64_t position, bool reset, std::optional<uint32_t> separator, size_t place,
                BatchBuffer& batch) {
  const uint32_t token = tokens[position];
  batch.inputs[place] = token;
  batch.targets[place] = tokens[position + 1];
  batch.resets[place] = reset || token == separator ? 1 : 0;
}

// A thread is worth its start from this number of streams on. A row of an index is made from several tokens.
size_t fewest_streams(uint32_t tokens, size_t indices) {
  constexpr size_t kTokensOfRow = 8;
  return std::max<size_t>(kFewestElements / (tokens * (1 + kTokensOfRow * indices)), 1);
}

}  // namespace

void BatchBuffer::clear(uint32_t new_streams, uint32_t new_tokens, uint32_t new_indices) {
  resize(new_streams, new_tokens, new_indices);
  std::fill(inputs.begin(), inputs.end(), 0);
  std::fill(targets.begin(), targets.end(), EGG_NO_TARGET);
  std::fill(resets.begin(), resets.end(), uint8_t{0});
  std::fill(rows.begin(), rows.end(), EGG_NO_ROW);
}

void BatchBuffer::resize(uint32_t new_streams, uint32_t new_tokens, uint32_t new_indices) {
  streams = new_streams;
  tokens = new_tokens;
  indices = new_indices;
  const size_t size = size_t{streams} * tokens;
  inputs.resize(size);
  targets.resize(size);
  resets.resize(size);
  rows.resize(size * indices);
}

Scored count_scored(const BatchBuffer& batch, const Dataset& dataset, uint32_t first_stream, Threads* threads) {
  const size_t first = size_t{first_stream} * batch.tokens;
  std::atomic<uint64_t> tokens = 0;
  std::atomic<uint64_t> units = 0;
  split(threads, batch.targets.size() - first, kFewestElements, [&](size_t begin, size_t end) {
    Scored part;
    for (size_t i = first + begin; i < first + end; ++i) {
      const uint32_t target = batch.targets[i];
      if (target == EGG_NO_TARGET) continue;
      ++part.tokens;
      part.units += dataset.units(target);
    }
    tokens += part.tokens;
    units += part.units;
  });
  return {tokens, units};
}

TrainStreams::TrainStreams(const Dataset& dataset, uint32_t streams, uint32_t tokens,
                           std::span<const egg_index> indices, std::vector<uint32_t> parts)
    : train_(dataset.train),
      separator_(dataset.separator),
      row_(dataset.train_row),
      streams_(streams),
      tokens_(tokens),
      segments_(row_ > 0 ? train_.size() / row_ : (train_.size() - 1) / tokens),
      indices_(indices),
      parts_(std::move(parts)) {
  if (row_ > 0 && row_ != uint64_t{tokens} + 1) {
    throw setting_error("train.tokens",
                        fmt::format("train.tokens is {}, but a row of {} has {} tokens to read, expected as many; set "
                                    "train.tokens={}",
                                    tokens, train_.source(), row_ - 1, row_ - 1));
  }
  if (segments_ > 0) return;
  throw setting_error("train.tokens",
                      fmt::format("the training part of '{}' holds {} tokens, expected at least {} (train.tokens + 1); "
                                  "use more data or set train.tokens={}",
                                  train_.source(), train_.size(), uint64_t{tokens} + 1, train_.size() - 1));
}

uint64_t TrainStreams::first_segment(uint64_t stream) const {
  if (parts_.empty()) return share(stream, segments_, streams_);
  size_t part = 0;
  for (; stream >= parts_[part]; ++part) stream -= parts_[part];
  return (stream * segments_ + part * segments_ / parts_.size()) / parts_[part];
}

void TrainStreams::fill(uint64_t step, BatchBuffer& batch, uint32_t first_stream, uint32_t count,
                        Threads* threads) const {
  batch.resize(count, tokens_, static_cast<uint32_t>(indices_.size()));
  split(threads, count, fewest_streams(tokens_, indices_.size()),
        [&](size_t begin, size_t end) { fill_streams(step, batch, first_stream, begin, end); });
}

// Streams [begin, end) of the batch, of which `first` is the first.
void TrainStreams::fill_streams(uint64_t step, BatchBuffer& batch, uint32_t first, size_t begin, size_t end) const {
  const uint64_t stride = row_ > 0 ? row_ : tokens_;
  // A GPU waits for this, so the loops are such that the compiler can vectorize them.
  train_.visit([&](auto tokens) {
    for (size_t s = begin; s < end; ++s) {
      const uint64_t segment = (first_segment(uint64_t{first} + s) + step) % segments_;
      const uint64_t from = segment * stride;
      const size_t place = s * tokens_;
      for (uint32_t t = 0; t < tokens_; ++t) {
        batch.inputs[place + t] = tokens[from + t];
        batch.targets[place + t] = tokens[from + t + 1];
        batch.resets[place + t] = 0;
      }
      if (separator_) {
        for (uint32_t t = 0; t < tokens_; ++t) batch.resets[place + t] = batch.inputs[place + t] == *separator_ ? 1 : 0;
      }
      if (row_ > 0 || step == 0 || segment == 0) batch.resets[place] = 1;
      if (indices_.empty()) continue;
      // Counted from the stream's last reset.
      const uint64_t before = row_ > 0 ? 0 : std::min(step, segment) * tokens_;
      for (uint32_t t = 0; t < tokens_; ++t) {
        put_rows(
            indices_, before + t + 1, separator_, [&](uint32_t j) { return uint32_t{tokens[from + t - j]}; },
            batch.rows.data() + (place + t) * indices_.size());
      }
    }
  });
}

HeldOutStreams::HeldOutStreams(const Dataset& dataset, uint32_t streams, uint32_t tokens, uint64_t limit,
                               std::span<const egg_index> indices, uint32_t warmup)
    : valid_(dataset.valid),
      separator_(dataset.separator),
      row_(dataset.valid_row),
      unit_(row_ > 0 ? row_ - 1 : 1),
      all_units_(row_ > 0 ? valid_.size() / row_ : valid_.size() - 1),
      warmup_(row_ > 0 ? 0 : warmup),
      tokens_(tokens),
      indices_(indices) {
  const uint64_t covered = limit == 0 ? valid_.size() : std::min(limit, valid_.size());
  units_ = row_ > 0 ? (covered + row_ - 1) / row_ : covered - 1;
  streams_ = static_cast<uint32_t>(std::min<uint64_t>(streams, units_));
  // A stream of the sample is then never longer than the distance to the next.
  if (units_ / streams_ == all_units_ / streams_) {
    units_ = all_units_;
    streams_ = static_cast<uint32_t>(std::min<uint64_t>(streams, units_));
  }
  // The last stream has the most text before it.
  const uint64_t before = std::min<uint64_t>(warmup_, share(streams_ - 1, all_units_, streams_));
  longest_ = before + (units_ + streams_ - 1) / streams_ * unit_;
  batches_ = (longest_ + tokens - 1) / tokens;
}

void HeldOutStreams::fill(uint64_t index, BatchBuffer& batch, uint32_t first_stream, uint32_t count,
                          Threads* threads) const {
  const auto tokens = static_cast<uint32_t>(std::min<uint64_t>(tokens_, longest_ - index * tokens_));
  batch.clear(count, tokens, static_cast<uint32_t>(indices_.size()));
  split(threads, count, fewest_streams(tokens_, indices_.size()),
        [&](size_t begin, size_t end) { fill_streams(index, batch, first_stream, begin, end); });
}

// Streams [begin, end) of the batch, of which `first_stream` is the first.
void HeldOutStreams::fill_streams(uint64_t index, BatchBuffer& batch, uint32_t first_stream, size_t begin,
                                  size_t end) const {
  for (size_t s = begin; s < end; ++s) {
    const uint64_t stream = uint64_t{first_stream} + s;
    const uint64_t first = share(stream, all_units_, streams_);
    const uint64_t length = (share(stream + 1, units_, streams_) - share(stream, units_, streams_)) * unit_;
    const uint64_t unscored = std::min<uint64_t>(warmup_, first);  // for rows 0
    for (uint32_t t = 0; t < batch.tokens; ++t) {
      const uint64_t i = index * tokens_ + t;
      if (i >= unscored + length) break;
      const uint64_t position = row_ > 0 ? (first + i / unit_) * row_ + i % unit_ : first - unscored + i;
      const bool fresh = row_ > 0 ? i % unit_ == 0 : i == 0;
      const size_t place = s * batch.tokens + t;
      read_token(valid_, position, fresh, separator_, place, batch);
      if (i < unscored) batch.targets[place] = EGG_NO_TARGET;
      if (indices_.empty()) continue;
      put_rows(
          indices_, (row_ > 0 ? i % unit_ : i) + 1, separator_, [&](uint32_t j) { return valid_[position - j]; },
          batch.rows.data() + place * indices_.size());
    }
  }
}

}  // namespace eggroll
