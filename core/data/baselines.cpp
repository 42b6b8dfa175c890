// Unigram, bigram and gzip figures.
#include "data/baselines.h"

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <new>

#include "data/byte_text.h"
#include "eggroll/noise.h"

namespace eggroll {
namespace {

constexpr double kSmoothing = 0.01;
constexpr uint32_t kDenseVocab = 1024;

// Counts of all pairs of a small vocabulary.
class DensePairs {
 public:
  explicit DensePairs(uint32_t vocab) : vocab_(vocab), counts_(size_t{vocab} * vocab) {}
  void want(uint32_t, uint32_t) {}
  void add(uint32_t previous, uint32_t next) { ++counts_[size_t{previous} * vocab_ + next]; }
  uint64_t count(uint32_t previous, uint32_t next) const { return counts_[size_t{previous} * vocab_ + next]; }

 private:
  uint32_t vocab_;
  std::vector<uint64_t> counts_;
};

// Counts of only the wanted pairs, in an open-addressed table that is at most half full.
class SparsePairs {
 public:
  SparsePairs() : entries_(1024) {}

  void want(uint32_t previous, uint32_t next) {
    const uint64_t pair = pair_of(previous, next);
    Entry* entry = find(entries_, pair);
    if (entry->pair == pair) return;
    entry->pair = pair;
    if (++used_ * 2 > entries_.size()) grow();
  }

  void add(uint32_t previous, uint32_t next) {
    const uint64_t pair = pair_of(previous, next);
    Entry* entry = find(entries_, pair);
    if (entry->pair == pair) ++entry->count;
  }

  uint64_t count(uint32_t previous, uint32_t next) { return find(entries_, pair_of(previous, next))->count; }

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};  // no pair: tokens are below kMaxVocab
  struct Entry {
    uint64_t pair = kNone;
    uint64_t count = 0;
  };

  static uint64_t pair_of(uint32_t previous, uint32_t next) { return (uint64_t{previous} << 32) | next; }

  // The pair's entry, or the empty one where it belongs. The table's size is a power of two.
  static Entry* find(std::vector<Entry>& entries, uint64_t pair) {
    size_t i = egg_mix64(pair) & (entries.size() - 1);
    while (entries[i].pair != pair && entries[i].pair != kNone) i = (i + 1) & (entries.size() - 1);
    return &entries[i];
  }

  void grow() {
    std::vector<Entry> larger(entries_.size() * 2);
    for (const Entry& entry : entries_) {
      if (entry.pair != kNone) *find(larger, entry.pair) = entry;
    }
    entries_.swap(larger);
  }

  std::vector<Entry> entries_;
  size_t used_ = 0;
};

// Calls first(token) at the start of the text or of each row, then pair(previous, next).
template <class First, class Pair>
void each_pair(const Tokens& tokens, uint64_t row, First first, Pair pair) {
  const uint64_t size = tokens.size();
  const uint64_t length = row > 0 ? row : size;
  tokens.visit([&](auto reader) {
    for (uint64_t start = 0; start < size; start += length) {
      uint32_t previous = reader[start];
      first(previous);
      for (uint64_t i = start + 1; i < start + length; ++i) {
        const uint32_t next = reader[i];
        pair(previous, next);
        previous = next;
      }
    }
  });
}

double bits(double count, double total, double vocab) {
  return std::log2(total + kSmoothing * vocab) - std::log2(count + kSmoothing);
}

template <class Pairs>
void measure_counts(const Dataset& dataset, Pairs pairs, Baselines& baselines) {
  const auto vocab = static_cast<double>(dataset.vocab_needed);
  std::vector<uint64_t> counts(dataset.vocab_needed);
  each_pair(
      dataset.valid, dataset.valid_row, [](uint32_t) {},
      [&](uint32_t previous, uint32_t next) { pairs.want(previous, next); });
  each_pair(
      dataset.train, dataset.train_row, [&](uint32_t token) { ++counts[token]; },
      [&](uint32_t previous, uint32_t next) {
        ++counts[next];
        pairs.add(previous, next);
      });
  // How often each token has a successor: every token but the last of a text or row has one.
  std::vector<uint64_t> followed = counts;
  const uint64_t row = dataset.train_row > 0 ? dataset.train_row : dataset.train.size();
  for (uint64_t end = row; end <= dataset.train.size(); end += row) --followed[dataset.train[end - 1]];

  const auto total = static_cast<double>(dataset.train.size());
  double unigram = 0.0;
  double bigram = 0.0;
  const auto unigram_bits = [&](uint32_t token) { return bits(static_cast<double>(counts[token]), total, vocab); };
  each_pair(
      dataset.valid, dataset.valid_row,
      [&](uint32_t token) {
        unigram += unigram_bits(token);
        bigram += unigram_bits(token);
      },
      [&](uint32_t previous, uint32_t next) {
        unigram += unigram_bits(next);
        bigram +=
            bits(static_cast<double>(pairs.count(previous, next)), static_cast<double>(followed[previous]), vocab);
      });
  const auto units = static_cast<double>(dataset.units(dataset.valid));
  baselines.unigram = unigram / units;
  baselines.bigram = bigram / units;
}

// The size in bytes to which zlib, at its highest level, compresses all added bytes.
class GzipSize {
 public:
  GzipSize() {
    // Window 2^15, +16 for gzip's wrapper. The program gzip holds as many symbols in a block as zlib's memory level 9
    // does; zlib's usual level 8 holds half of them and comes to another size.
    if (deflateInit2(&stream_, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~GzipSize() { deflateEnd(&stream_); }
  GzipSize(const GzipSize&) = delete;
  GzipSize& operator=(const GzipSize&) = delete;

  void add(std::span<const std::byte> bytes) {  // below 4 GiB
    stream_.next_in = reinterpret_cast<const Bytef*>(bytes.data());
    stream_.avail_in = static_cast<uInt>(bytes.size());
    run(Z_NO_FLUSH);
  }

  uint64_t finish() {
    run(Z_FINISH);
    return size_;
  }

 private:
  void run(int flush) {
    std::array<Bytef, 65536> out;
    do {
      stream_.next_out = out.data();
      stream_.avail_out = static_cast<uInt>(out.size());
      deflate(&stream_, flush);
      size_ += out.size() - stream_.avail_out;
    } while (stream_.avail_out == 0);
  }

  z_stream stream_{};
  uint64_t size_ = 0;
};

double gzip_bits(const Dataset& dataset) {
  constexpr uint64_t kChunk = 1 << 18;  // tokens: at most 1 GiB of text
  const Tokens& tokens = dataset.valid;
  GzipSize gzip;
  std::string own;
  for (uint64_t start = 0; start < tokens.size(); start += kChunk) {
    gzip.add(bytes_of(dataset, tokens.part(start, std::min(kChunk, tokens.size() - start)), own));
  }
  return 8.0 * static_cast<double>(gzip.finish()) / static_cast<double>(dataset.units(tokens));
}

}  // namespace

Baselines measure_baselines(const Dataset& dataset) {
  Baselines baselines;
  // Runs in a thread of its own, because on a large file it takes as long as the counts.
  std::future<double> gzip = std::async(std::launch::async, [&dataset] { return gzip_bits(dataset); });
  if (dataset.vocab_needed <= kDenseVocab) {
    measure_counts(dataset, DensePairs(dataset.vocab_needed), baselines);
  } else {
    measure_counts(dataset, SparsePairs(), baselines);
  }
  baselines.gzip = gzip.get();
  return baselines;
}

}  // namespace eggroll
