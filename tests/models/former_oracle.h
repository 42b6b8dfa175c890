// A second implementation of Int8NativeFormer: egg.c's forward pass, and the project's own. See oracle.h.
#ifndef EGGROLL_TESTS_MODELS_FORMER_ORACLE_H
#define EGGROLL_TESTS_MODELS_FORMER_ORACLE_H

#include "models/oracle.h"

namespace eggroll::test {

class FormerOracle : public Oracle {
 public:
  FormerOracle(Peer peer, int width, int layers, int head, int vocab)
      : Oracle(peer), width_(width), layers_(layers), head_(head), vocab_(vocab) {
    reset();
  }

  bool sigmoid = false;  // the project's other weighting

  void reset() override { cache_.assign(static_cast<size_t>(layers_), Cache{}); }

  // The project clips its logits, egg.c does not.
  Row step(int token) override {
    const Row bias = vector_param("embedding.b");
    Row x = embed(token, width_);
    for (size_t i = 0; i < x.size(); ++i) x[i] = clip(x[i] + bias[i]);
    x = mlp("init_mlp", x);
    for (int l = 0; l < layers_; ++l) {
      const std::string layer = "layer" + std::to_string(l);
      x = mlp(layer + ".mlp", attention(layer + ".attention", x, cache_[static_cast<size_t>(l)]));
    }
    const Row logits = product("embedding", norm("norm_out.gain", "norm_out.b", x), vocab_, divisor(256, x.size()));
    return peer_ == Peer::kProject ? clipped(logits) : logits;
  }

  Row state() const override { return {}; }

 private:
  struct Cache {
    std::vector<Row> keys;  // by position
    std::vector<Row> values;
  };

  int64_t divisor(int64_t egg_c, size_t inputs) const { return peer_ == Peer::kEggC ? egg_c : project_divisor(inputs); }

  // v * 127 / max |v|, halves away from zero.
  static Row scaled(Row row) {
    int64_t largest = 1;
    for (const int64_t v : row) largest = std::max(largest, std::abs(v));
    for (int64_t& v : row) {
      const int64_t magnitude = (2 * 127 * std::abs(v) + largest) / (2 * largest);
      v = v < 0 ? -magnitude : magnitude;
    }
    return row;
  }

  static Row sum(const Row& a, const Row& b) {
    Row y(a.size());
    for (size_t i = 0; i < y.size(); ++i) y[i] = a[i] + b[i];
    return y;
  }

  static int64_t gelu(int64_t v) {
    const double x = static_cast<double>(v) / 16.0;
    return clip(std::lround(0.5 * x * (1.0 + std::erf(x / 1.41421356)) * 16.0));
  }

  Row mlp(const std::string& name, const Row& x) const {
    const Row y = norm(name + ".norm.gain", name + ".norm.b", x);
    Row u = clipped(sum(product(name + ".up.w", y, 4 * width_, divisor(256, y.size())), vector_param(name + ".up.b")));
    for (int64_t& v : u) v = gelu(v);
    const Row d = product(name + ".down.w", u, width_, divisor(1024, u.size()));
    return scaled(sum(sum(x, d), vector_param(name + ".down.b")));
  }

  // Each pair (2i, 2i + 1) of a head is turned by position * 10000^(-2i / head); the constants are in units of 2^-20.
  Row rotated(const Row& x, size_t position) const {
    Row y(x.size());
    for (size_t i = 0; i < x.size(); i += 2) {
      const auto channel = static_cast<long double>(i % static_cast<size_t>(head_));
      const long double angle = static_cast<long double>(position) * std::pow(10000.0L, -channel / head_);
      const auto c = static_cast<int64_t>(std::round(std::cos(angle) * 1048576.0L));
      const auto s = static_cast<int64_t>(std::round(std::sin(angle) * 1048576.0L));
      y[i] = floor_div(x[i] * c - x[i + 1] * s + 524288, 1048576);
      y[i + 1] = floor_div(x[i] * s + x[i + 1] * c + 524288, 1048576);
    }
    return y;
  }

  int64_t weight(int64_t score, int64_t largest) const {
    if (sigmoid) {
      return std::lround(16384.0 / (1.0 + std::exp2(-static_cast<double>(clip(score)) / 16.0)));
    }
    const auto below = static_cast<double>(std::min<int64_t>(255, largest - score));
    const double w = peer_ == Peer::kEggC ? 262144.0 * std::exp(-below / 6.0) : 16384.0 * std::exp2(-below / 8.0);
    return w >= 1.0 ? std::lround(w) : 0;
  }

  // egg.c rounds towards zero; the project rounds halves away from zero.
  int64_t quotient(int64_t n, int64_t d) const {
    if (peer_ == Peer::kEggC) return n / d;
    const int64_t magnitude = (2 * std::abs(n) + d) / (2 * d);
    return n < 0 ? -magnitude : magnitude;
  }

  Row attention(const std::string& name, const Row& x, Cache& cache) const {
    const Row y = norm(name + ".norm.gain", name + ".norm.b", x);
    const size_t position = cache.keys.size();
    const Row q = scaled(rotated(product(name + ".q.w", y, width_, 1), position));
    cache.keys.push_back(scaled(rotated(product(name + ".k.w", y, width_, 1), position)));
    cache.values.push_back(scaled(product(name + ".v.w", y, width_, 1)));
    const auto head = static_cast<size_t>(head_);
    const int64_t unit = peer_ == Peer::kEggC ? 256 : 8 * project_divisor(head);
    Row mixed(x.size());
    for (size_t first = 0; first < x.size(); first += head) {
      Row scores;
      for (const Row& key : cache.keys) {
        int64_t score = 0;
        for (size_t i = first; i < first + head; ++i) score += q[i] * key[i];
        scores.push_back(divided(score, unit));
      }
      const int64_t largest = *std::max_element(scores.begin(), scores.end());
      Row sums(head, 0);
      int64_t total = 0;
      for (size_t j = 0; j < scores.size(); ++j) {
        const int64_t w = weight(scores[j], largest);
        total += w;
        for (size_t i = 0; i < head; ++i) sums[i] += w * cache.values[j][first + i];
      }
      for (size_t i = 0; i < head; ++i) mixed[first + i] = clip(quotient(sums[i], std::max<int64_t>(1, total)));
    }
    return scaled(sum(x, product(name + ".out.w", mixed, width_, divisor(512, mixed.size()))));
  }

  int width_;
  int layers_;
  int head_;
  int vocab_;
  std::vector<Cache> cache_;  // by layer
};

}  // namespace eggroll::test

#endif
