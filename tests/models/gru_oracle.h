// A second implementation of the GRU: see oracle.h.
#ifndef EGGROLL_TESTS_MODELS_GRU_ORACLE_H
#define EGGROLL_TESTS_MODELS_GRU_ORACLE_H

#include "models/oracle.h"

namespace eggroll::test {

class GruOracle : public Oracle {
 public:
  GruOracle(Peer peer, int width, int layers, int vocab) : Oracle(peer), width_(width), layers_(layers), vocab_(vocab) {
    reset();
  }

  void reset() override { state_.assign(static_cast<size_t>(layers_), Row(static_cast<size_t>(width_), 0)); }

  Row step(int token) override {
    Row x = embed(token, width_);
    for (int l = 0; l < layers_; ++l) x = layer("layer" + std::to_string(l), x, state_[static_cast<size_t>(l)]);
    return linear("head", norm("norm_out.gain", "", x), vocab_, false);
  }

  Row state() const override {
    Row all;
    for (const Row& layer : state_) all.insert(all.end(), layer.begin(), layer.end());
    return all;
  }

 private:
  Row linear(const std::string& name, const Row& x, int outputs, bool mlp_down) const {
    int64_t divisor = project_divisor(x.size());
    if (peer_ == Peer::kNanoEgg) divisor = 16 * static_cast<int64_t>(std::sqrt(static_cast<double>(x.size())));
    if (peer_ == Peer::kEggC) divisor = mlp_down ? 512 : 256;
    return clipped(product(name, x, outputs, divisor));
  }

  Row gate(const std::string& name, const Row& x, const Row& h) const {
    const Row wx = linear(name + ".w", x, width_, false);
    const Row uh = linear(name + ".u", h, width_, false);
    const Row b = vector_param(name + ".b");
    Row y(x.size());
    for (size_t i = 0; i < y.size(); ++i) {
      y[i] = peer_ == Peer::kEggC ? clip(clip(wx[i] + uh[i]) + b[i]) : clip(wx[i] + uh[i] + b[i]);
    }
    return y;
  }

  Row layer(const std::string& name, Row x, Row& h) const {
    const Row y = norm(name + ".norm1.gain", "", x);
    const Row f = gate(name + ".forget", y, h);
    Row gated(h.size());
    for (size_t i = 0; i < h.size(); ++i) gated[i] = floor_div((f[i] + 127) * h[i], 256);
    const Row c = gate(name + ".candidate", y, gated);
    for (size_t i = 0; i < h.size(); ++i) {
      h[i] += floor_div((f[i] + 127) * (c[i] - h[i]), 256);
      x[i] = clip(x[i] + h[i]);
    }
    const Row up = linear(name + ".up.w", norm(name + ".norm2.gain", "", x), 4 * width_, false);
    const Row down = linear(name + ".down.w", up, width_, true);
    for (size_t i = 0; i < x.size(); ++i) x[i] = clip(down[i] + x[i]);
    return x;
  }

  int width_;
  int layers_;
  int vocab_;
  std::vector<Row> state_;  // by layer
};

}  // namespace eggroll::test

#endif
