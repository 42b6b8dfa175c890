// All contexts of all lengths come from one sorted list of words. The word of a byte holds the seven bytes before it,
// the nearest first, and then the byte itself. So the words of a context of any length are neighbours, and a walk
// through the list meets every context right after the longer ones that end in it.
#include "data/kneser_ney.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace eggroll {
namespace {

constexpr size_t kBytes = 256;
constexpr uint32_t kOrders = kLongestContext + 1;  // contexts of 0 to 7 bytes
constexpr uint64_t kPairs = 65536;                 // of bytes
constexpr uint64_t kPieceWords = uint64_t{8} << 20;
constexpr double kUsualDiscount = 0.75;

// Calls use(word) for each byte of the text.
template <class Use>
void each_word(std::span<const std::byte> text, Use use) {
  uint64_t before = 0;  // the nearest byte highest
  for (const std::byte byte : text) {
    const auto symbol = static_cast<uint64_t>(byte);
    use((before & ~uint64_t{0xff}) | symbol);
    before = before >> 8 | symbol << 56;
  }
}

uint64_t pair_of(uint64_t word) { return word >> 48; }
uint8_t symbol_of(uint64_t word) { return static_cast<uint8_t>(word); }
// The context's bytes, `order` of 1 to 7.
uint64_t context_of(uint64_t word, uint32_t order) { return word >> (64 - 8 * order); }

// How often the bytes after one context occur: the sum, and how many occur once, twice and more often.
struct Tally {
  uint32_t total = 0;
  std::array<uint16_t, 3> by_count{};

  void add(uint32_t count) {
    total += count;
    ++by_count[std::min<uint32_t>(count, 3) - 1];
  }
};

// The counts of a context that both texts have.
struct Context {
  Tally times;    // as often as a byte follows it
  Tally endings;  // of how many longer contexts a byte follows that end in it
};

// The bytes after the newest context of one length.
class Followers {
 public:
  void add(uint8_t symbol, uint32_t times) {
    if (times_[symbol] == 0) symbols_[size_++] = symbol;
    times_[symbol] += times;
    ++endings_[symbol];
  }
  void clear() {
    for (const uint8_t symbol : symbols()) times_[symbol] = endings_[symbol] = 0;
    size_ = 0;
  }
  std::span<const uint8_t> symbols() const { return {symbols_.data(), size_}; }
  uint32_t times(uint8_t symbol) const { return times_[symbol]; }
  uint32_t endings(uint8_t symbol) const { return endings_[symbol]; }

 private:
  std::array<uint32_t, kBytes> times_{};
  std::array<uint32_t, kBytes> endings_{};
  std::array<uint8_t, kBytes> symbols_{};
  size_t size_ = 0;
};

// How many counts of 1, 2, 3 and 4 an order has.
class CountsOfCounts {
 public:
  void add(uint32_t count) {
    if (count <= numbers_.size()) ++numbers_[count - 1];
  }

  // By count: no discount for 0, then those for 1, 2, and 3 or more.
  std::array<double, 4> discounts() const {
    const std::array<double, 4>& n = numbers_;
    std::array<double, 4> discounts{};
    for (size_t count = 1; count <= 3; ++count) {
      const auto whole = static_cast<double>(count);
      const double discount = whole - (whole + 1) * n[0] / (n[0] + 2 * n[1]) * n[count] / n[count - 1];
      discounts[count] = discount > 0.0 && discount < whole ? discount : kUsualDiscount;  // NaN too
    }
    return discounts;
  }

 private:
  std::array<double, 4> numbers_{};
};

// The distinct words of the held-out text in their order, and the training text's counts for each.
class HeldOut {
 public:
  explicit HeldOut(std::span<const std::byte> text) {
    words_.reserve(text.size());
    each_word(text, [&](uint64_t word) { words_.push_back(word); });
    std::sort(words_.begin(), words_.end());
    times_.reserve(text.size());
    size_t distinct = 0;
    for (size_t i = 0; i < words_.size(); ++i) {
      if (i > 0 && words_[i] == words_[distinct - 1]) {
        ++times_.back();
        continue;
      }
      words_[distinct++] = words_[i];
      times_.push_back(1);
    }
    words_.resize(distinct);
    for (Known& known : known_) known.facts.resize(distinct);
  }

  // Keeps the facts of a context that the held-out text needs. Contexts of an order come sorted by their words.
  void learn(uint32_t order, uint64_t context, const Context& counts, const Followers& followers) {
    Known& known = known_[order - 1];
    while (known.next < words_.size() && context_of(words_[known.next], order) < context) ++known.next;
    if (known.next == words_.size() || context_of(words_[known.next], order) != context) return;
    known.contexts.push_back(counts);
    for (; known.next < words_.size() && context_of(words_[known.next], order) == context; ++known.next) {
      const uint8_t symbol = symbol_of(words_[known.next]);
      known.facts[known.next] = {static_cast<uint32_t>(known.contexts.size()), followers.times(symbol),
                                 followers.endings(symbol)};
    }
  }

  using Discounts = std::array<std::array<double, 4>, kOrders>;

  // Bits of the whole text by order. times, endings: their discounts. unigram: of each byte, by endings.
  std::array<double, kLongestContext> bits(const Discounts& times, const Discounts& endings,
                                           const std::array<double, kBytes>& unigram) const {
    std::array<double, kLongestContext> sums{};
    for (size_t i = 0; i < words_.size(); ++i) {
      double shorter = unigram[symbol_of(words_[i])];
      for (uint32_t order = 1; order <= kLongestContext; ++order) {
        const Fact& fact = known_[order - 1].facts[i];
        double probability = shorter;
        if (fact.context > 0) {
          const Context& context = known_[order - 1].contexts[fact.context - 1];
          probability = mixed(context.times, fact.times, times[order], shorter);
          shorter = mixed(context.endings, fact.endings, endings[order], shorter);
        }
        sums[order - 1] -= times_[i] * std::log2(probability);
      }
    }
    return sums;
  }

  // The discounted share of a count, plus the context's leftover share of the shorter context's probability.
  static double mixed(const Tally& tally, uint32_t count, const std::array<double, 4>& discounts, double shorter) {
    double left = 0.0;
    for (size_t i = 0; i < 3; ++i) left += discounts[i + 1] * tally.by_count[i];
    return (count - discounts[std::min<uint32_t>(count, 3)] + left * shorter) / tally.total;
  }

 private:
  struct Fact {
    uint32_t context = 0;  // the number of the word's context, from 1; 0: the training text lacks it
    uint32_t times = 0;
    uint32_t endings = 0;
  };
  struct Known {  // of one order
    size_t next = 0;
    std::vector<Context> contexts;
    std::vector<Fact> facts;  // by word
  };

  std::vector<uint64_t> words_;
  std::vector<double> times_;  // that each occurs
  std::array<Known, kLongestContext> known_;
};

// The walk through the words of the training text.
class Walk {
 public:
  explicit Walk(HeldOut& held_out) : held_out_(held_out) {}

  // Adds words, which must be sorted and come after all words before.
  void add(std::span<const uint64_t> words) {
    for (size_t i = 0; i < words.size();) {
      const uint64_t word = words[i];
      size_t end = i + 1;
      while (end < words.size() && words[end] == word) ++end;
      if (begun_) {
        const auto equal = static_cast<uint32_t>(std::countl_zero((last_ ^ word) | 0xff)) / 8;  // bytes of context
        close_above(equal);
      }
      begun_ = true;
      last_ = word;
      followers_[kLongestContext].add(symbol_of(word), static_cast<uint32_t>(end - i));
      i = end;
    }
  }

  std::array<double, kLongestContext> bits() {
    close_above(0);
    HeldOut::Discounts times{};
    HeldOut::Discounts endings{};
    Tally unigrams;
    for (const uint8_t symbol : followers_[0].symbols()) {
      unigrams.add(followers_[0].endings(symbol));
      endings_[0].add(followers_[0].endings(symbol));
    }
    for (uint32_t order = 0; order < kOrders; ++order) {
      times[order] = times_[order].discounts();
      endings[order] = endings_[order].discounts();
    }
    std::array<double, kBytes> unigram{};
    for (size_t symbol = 0; symbol < kBytes; ++symbol) {
      unigram[symbol] =
          HeldOut::mixed(unigrams, followers_[0].endings(static_cast<uint8_t>(symbol)), endings[0], 1.0 / kBytes);
    }
    return held_out_.bits(times, endings, unigram);
  }

 private:
  // Ends the newest contexts that have more bytes, the longest first. Each adds its bytes to the next shorter context.
  void close_above(uint32_t order) {
    for (uint32_t longer = kLongestContext; longer > order; --longer) {
      Followers& followers = followers_[longer];
      Context counts;
      for (const uint8_t symbol : followers.symbols()) {
        counts.times.add(followers.times(symbol));
        counts.endings.add(followers.endings(symbol));
        times_[longer].add(followers.times(symbol));
        endings_[longer].add(followers.endings(symbol));
        followers_[longer - 1].add(symbol, followers.times(symbol));
      }
      held_out_.learn(longer, context_of(last_, longer), counts, followers);
      followers.clear();
    }
  }

  HeldOut& held_out_;
  bool begun_ = false;
  uint64_t last_ = 0;
  std::array<Followers, kOrders> followers_;
  std::array<CountsOfCounts, kOrders> times_;
  std::array<CountsOfCounts, kOrders> endings_;
};

}  // namespace

std::optional<std::array<double, kLongestContext>> kneser_ney_bits(std::span<const std::byte> train,
                                                                   std::span<const std::byte> held_out,
                                                                   const std::atomic<bool>& stop) {
  std::vector<uint64_t> ends(kPairs + 1);  // [pair]: how many words come before those of the pair
  each_word(train, [&](uint64_t word) { ++ends[pair_of(word) + 1]; });
  for (size_t pair = 0; pair < kPairs; ++pair) ends[pair + 1] += ends[pair];

  HeldOut of_held_out(held_out);
  Walk walk(of_held_out);
  std::vector<uint64_t> words;
  words.reserve(std::min<uint64_t>(train.size(), kPieceWords));
  std::vector<uint64_t> places(kPairs);
  // Takes one piece after the other, each of whole pairs, so that a long text takes no more memory.
  for (size_t first = 0; first < kPairs;) {
    size_t last = first + 1;
    while (last < kPairs && ends[last + 1] - ends[first] <= kPieceWords) ++last;
    words.resize(ends[last] - ends[first]);
    for (size_t pair = first; pair < last; ++pair) places[pair] = ends[pair] - ends[first];
    each_word(train, [&](uint64_t word) {
      const uint64_t pair = pair_of(word);
      if (pair - first < last - first) words[places[pair]++] = word;
    });
    for (size_t pair = first; pair < last; ++pair) {
      if (stop.load()) return std::nullopt;
      const std::span<uint64_t> some(words.data() + (ends[pair] - ends[first]), ends[pair + 1] - ends[pair]);
      std::sort(some.begin(), some.end());
      walk.add(some);
    }
    first = last;
  }
  std::array<double, kLongestContext> bits = walk.bits();
  for (double& sum : bits) sum /= static_cast<double>(held_out.size());
  return bits;
}

}  // namespace eggroll
