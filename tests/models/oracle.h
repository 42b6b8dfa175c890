// The parts that the models' oracles share. An oracle computes the forward pass of nano-egg, egg.c or the project, with
// any perturbation given as explicit A and B. It is written from the published description and shares no code with
// the project.
#ifndef EGGROLL_TESTS_MODELS_ORACLE_H
#define EGGROLL_TESTS_MODELS_ORACLE_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace eggroll::test {

enum class Peer { kProject, kNanoEgg, kEggC };

using Row = std::vector<int64_t>;

// Rank-1 noise of one tensor. A matrix has an a for each row and a b for each column, a vector both for each element.
struct OracleNoise {
  Row a;
  Row b;
};

inline int64_t floor_div(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return q * b > a ? q - 1 : q;
}

class Oracle {
 public:
  explicit Oracle(Peer peer) : peer_(peer) {}
  virtual ~Oracle() = default;

  std::map<std::string, Row> weights;        // by tensor name, row-major
  std::map<std::string, OracleNoise> noise;  // only the perturbed tensors
  int64_t sign = 0;

  virtual void reset() = 0;         // returns to the state before the first token
  virtual Row step(int token) = 0;  // reads one token; returns the logits
  virtual Row state() const = 0;    // the program's states, one after another

 protected:
  static int64_t clip(int64_t x, int64_t limit = 127) { return std::max(-limit, std::min(limit, x)); }

  static Row clipped(Row row) {
    for (int64_t& x : row) x = clip(x);
    return row;
  }

  // The project rounds halves up; its peers round down.
  int64_t divided(int64_t x, int64_t divisor) const {
    return peer_ == Peer::kProject ? floor_div(2 * x + divisor, 2 * divisor) : floor_div(x, divisor);
  }

  const OracleNoise* noise_of(const std::string& name) const {
    const auto it = noise.find(name);
    return sign == 0 || it == noise.end() ? nullptr : &it->second;
  }

  // The perturbation of every tensor is a * b / 256: a shift of 4 + 4.
  Row vector_param(const std::string& name) const {
    Row w = weights.at(name);
    if (const OracleNoise* n = noise_of(name)) {
      for (size_t i = 0; i < w.size(); ++i) w[i] = clip(w[i] + sign * divided(n->a[i] * n->b[i], 256));
    }
    return w;
  }

  Row embed(int token, int width) const {
    const auto begin = weights.at("embedding").begin() + token * width;
    Row x(begin, begin + width);
    if (const OracleNoise* n = noise_of("embedding")) {
      for (size_t d = 0; d < x.size(); ++d)
        x[d] = clip(x[d] + sign * divided(n->a[static_cast<size_t>(token)] * n->b[d], 256));
    }
    return x;
  }

  // The result is not clipped.
  Row product(const std::string& name, const Row& x, int outputs, int64_t divisor) const {
    const Row& w = weights.at(name);
    const OracleNoise* n = noise_of(name);
    int64_t q = 0;
    if (n != nullptr) {
      int64_t xb = 0;
      for (size_t j = 0; j < x.size(); ++j) xb += x[j] * n->b[j];
      q = clip(divided(xb, 16), 32767);
    }
    Row y(static_cast<size_t>(outputs));
    for (size_t i = 0; i < y.size(); ++i) {
      int64_t acc = 0;
      for (size_t j = 0; j < x.size(); ++j) acc += x[j] * w[i * x.size() + j];
      y[i] = divided(16 * acc + (n != nullptr ? sign * q * n->a[i] : 0), 16 * divisor);
    }
    return y;
  }

  // The project's divisor of a product over n inputs: 16 sqrt n, rounded to the nearest power of two.
  static int64_t project_divisor(size_t n) {
    return int64_t{16} << static_cast<int>(std::floor(std::log2(std::sqrt(static_cast<double>(n))) + 0.5));
  }

  // bias: a parameter's name, or empty.
  Row norm(const std::string& gain_name, const std::string& bias_name, const Row& x) const {
    const Row gain = vector_param(gain_name);
    const Row bias = bias_name.empty() ? Row(x.size(), 0) : vector_param(bias_name);
    int64_t sum = 0;
    for (const int64_t v : x) sum += std::abs(v);
    const int64_t m = std::max<int64_t>(1, sum / static_cast<int64_t>(x.size()));
    Row y(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const int64_t v = x[i] * gain[i];
      if (peer_ == Peer::kNanoEgg) y[i] = clip(floor_div(v, m) + bias[i]);
      if (peer_ == Peer::kEggC) y[i] = clip(v / m + bias[i]);
      if (peer_ == Peer::kProject) {
        const auto reciprocal = static_cast<int64_t>(std::floor(65536.0 / static_cast<double>(m) + 0.5));
        y[i] = clip(divided(v * reciprocal, 65536) + bias[i]);
      }
    }
    return y;
  }

  Peer peer_;
};

}  // namespace eggroll::test

#endif
