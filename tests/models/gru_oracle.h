// The GRU once more, written from the published descriptions and sharing no code with the project: nano-egg's forward
// pass, egg.c's, and the project's own with any perturbation given as explicit A and B.
#ifndef EGGROLL_TESTS_MODELS_GRU_ORACLE_H
#define EGGROLL_TESTS_MODELS_GRU_ORACLE_H

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

// Rank-1 noise of one tensor: a by row, b by column; for a vector both by element.
struct OracleNoise {
  Row a;
  Row b;
};

class GruOracle {
 public:
  GruOracle(Peer peer, int width, int layers, int vocab) : peer_(peer), width_(width), layers_(layers), vocab_(vocab) {
    reset();
  }

  std::map<std::string, Row> weights;        // by tensor name, row-major
  std::map<std::string, OracleNoise> noise;  // only the perturbed tensors
  int64_t sign = 0;
  std::vector<Row> state;  // by layer

  void reset() { state.assign(static_cast<size_t>(layers_), Row(static_cast<size_t>(width_), 0)); }

  // Reads one token; returns the logits.
  Row step(int token) {
    Row x = embed(token);
    for (int l = 0; l < layers_; ++l) x = layer("layer" + std::to_string(l), x, state[static_cast<size_t>(l)]);
    return product("head", norm("norm_out.gain", x), vocab_, false);
  }

 private:
  static int64_t floor_div(int64_t a, int64_t b) {
    const int64_t q = a / b;
    return q * b > a ? q - 1 : q;
  }
  static int64_t clip(int64_t x, int64_t limit = 127) { return std::max(-limit, std::min(limit, x)); }

  // Division by 2^k: halves up for the project, down to the floor for its peers.
  int64_t shifted(int64_t x, int k) const {
    const int64_t divisor = int64_t{1} << k;
    return peer_ == Peer::kProject ? floor_div(2 * x + divisor, 2 * divisor) : floor_div(x, divisor);
  }

  const OracleNoise* noise_of(const std::string& name) const {
    const auto it = noise.find(name);
    return sign == 0 || it == noise.end() ? nullptr : &it->second;
  }

  // Perturbation shift 4 + 4 throughout.
  Row vector_param(const std::string& name) const {
    Row w = weights.at(name);
    if (const OracleNoise* n = noise_of(name)) {
      for (size_t i = 0; i < w.size(); ++i) w[i] = clip(w[i] + sign * shifted(n->a[i] * n->b[i], 8));
    }
    return w;
  }

  Row embed(int token) const {
    const auto width = static_cast<size_t>(width_);
    const auto begin = weights.at("embedding").begin() + token * width_;
    Row x(begin, begin + width_);
    if (const OracleNoise* n = noise_of("embedding")) {
      for (size_t d = 0; d < width; ++d)
        x[d] = clip(x[d] + sign * shifted(n->a[static_cast<size_t>(token)] * n->b[d], 8));
    }
    return x;
  }

  Row product(const std::string& name, const Row& x, int outputs, bool mlp_down) const {
    const Row& w = weights.at(name);
    const OracleNoise* n = noise_of(name);
    int64_t q = 0;
    if (n != nullptr) {
      int64_t xb = 0;
      for (size_t j = 0; j < x.size(); ++j) xb += x[j] * n->b[j];
      q = clip(shifted(xb, 4), 32767);
    }
    Row y(static_cast<size_t>(outputs));
    for (size_t i = 0; i < y.size(); ++i) {
      int64_t acc = 0;
      for (size_t j = 0; j < x.size(); ++j) acc += x[j] * w[i * x.size() + j];
      const double root = std::sqrt(static_cast<double>(x.size()));
      switch (peer_) {
        case Peer::kNanoEgg:
          y[i] = clip(floor_div(acc, 16 * static_cast<int64_t>(root)));
          break;
        case Peer::kEggC:
          y[i] = clip(floor_div(acc, mlp_down ? 512 : 256));
          break;
        case Peer::kProject: {
          const int shift = 4 + static_cast<int>(std::floor(std::log2(root) + 0.5));
          y[i] = clip(shifted(16 * acc + (n != nullptr ? sign * q * n->a[i] : 0), shift + 4));
        }
      }
    }
    return y;
  }

  Row norm(const std::string& name, const Row& x) const {
    const Row gain = vector_param(name);
    int64_t sum = 0;
    for (const int64_t v : x) sum += std::abs(v);
    const int64_t m = std::max<int64_t>(1, sum / static_cast<int64_t>(x.size()));
    Row y(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const int64_t v = x[i] * gain[i];
      if (peer_ == Peer::kNanoEgg) y[i] = clip(floor_div(v, m));
      if (peer_ == Peer::kEggC) y[i] = clip(v / m);
      if (peer_ == Peer::kProject) {
        const auto reciprocal = static_cast<int64_t>(std::floor(65536.0 / static_cast<double>(m) + 0.5));
        y[i] = clip(shifted(v * reciprocal, 16));
      }
    }
    return y;
  }

  Row gate(const std::string& name, const Row& x, const Row& h) const {
    const Row wx = product(name + ".w", x, width_, false);
    const Row uh = product(name + ".u", h, width_, false);
    const Row b = vector_param(name + ".b");
    Row y(x.size());
    for (size_t i = 0; i < y.size(); ++i) {
      y[i] = peer_ == Peer::kEggC ? clip(clip(wx[i] + uh[i]) + b[i]) : clip(wx[i] + uh[i] + b[i]);
    }
    return y;
  }

  Row layer(const std::string& name, Row x, Row& h) const {
    const Row y = norm(name + ".norm1.gain", x);
    const Row f = gate(name + ".forget", y, h);
    Row gated(h.size());
    for (size_t i = 0; i < h.size(); ++i) gated[i] = floor_div((f[i] + 127) * h[i], 256);
    const Row c = gate(name + ".candidate", y, gated);
    for (size_t i = 0; i < h.size(); ++i) {
      h[i] += floor_div((f[i] + 127) * (c[i] - h[i]), 256);
      x[i] = clip(x[i] + h[i]);
    }
    const Row up = product(name + ".up.w", norm(name + ".norm2.gain", x), 4 * width_, false);
    const Row down = product(name + ".down.w", up, width_, true);
    for (size_t i = 0; i < x.size(); ++i) x[i] = clip(down[i] + x[i]);
    return x;
  }

  Peer peer_;
  int width_;
  int layers_;
  int vocab_;
};

}  // namespace eggroll::test

#endif
