// The GRU language model of egg.c and nano-egg: embedding; layers of l1 norm, minimal GRU, l1 norm, two-layer MLP, both
// with residuals; norm; head. Tables read by the hash of the last tokens may add to the embedding and to the logits.
// Settings: configs/model/gru.yaml.
#include <map>
#include <string>

#include "common/language_model.h"
#include "common/shift_rule.h"

namespace eggroll {
namespace {

enum ShiftRule { kInverseSqrt, kInverse, kExactInverseSqrt, kFixed };

class Gru : public LanguageModel {
 public:
  explicit Gru(Settings& settings)
      : LanguageModel(settings, 1, 0, 0),
        max_norm_(settings.choice("norm", {"l1", "max"}) == 1),
        gate_clip_twice_(settings.choice("gate_clip", {"once", "twice"}) == 1),
        steps_per_bit_(settings.int32("logit_steps_per_bit", 1, 256)) {
    rule_ = static_cast<ShiftRule>(
        settings.choice("shift_rule", {"inverse_sqrt", "inverse", "exact_inverse_sqrt", "fixed"}));
    fixed_ = read_shifts(settings, rule_ == kFixed, {"shift", "shift_down"});
    settings.finish();
    build();
  }

 private:
  // The right shift after a product over n inputs; key is its setting under shift_rule fixed.
  int32_t shift(int64_t n, const std::string& key = "shift") const {
    switch (rule_) {
      case kInverseSqrt:
        return fixed_point_ + rounded_log2(n, 2);
      case kInverse:
        return fixed_point_ + rounded_log2(n, 1);
      case kExactInverseSqrt: {
        const int32_t k = rounded_log2(n, 2);
        if (int64_t{1} << (2 * k) != n) {
          throw setting_error("width",
                              "width leads to a product over " + std::to_string(n) +
                                  " inputs, expected a power of 4 under shift_rule exact_inverse_sqrt; use such a "
                                  "width and mlp_ratio, or another rule");
        }
        return fixed_point_ + k;
      }
      case kFixed:
        break;
    }
    return fixed_.at(key);
  }

  // clip(W x + U h + b), the two products rounded and clipped first.
  Value gate(const std::string& name, Value x, Value h) {
    const Value from_x = builder_.linear(name + ".from_x", x, square(name + ".w", init_std_), shift(width_));
    const Value from_h = builder_.linear(name + ".from_h", h, square(name + ".u", init_std_), shift(width_));
    const Param bias = builder_.vector(name + ".b", width_, 0);
    if (!gate_clip_twice_) return builder_.add(name, from_x, from_h, bias);
    return builder_.add(name, builder_.add(name + ".sum", from_x, from_h), Value{}, bias);
  }

  Value norm(const std::string& name, Value x) {
    if (max_norm_) return builder_.max_norm(name, x);
    return builder_.l1_norm(name, x, builder_.vector(name + ".gain", width_, gain_), division_);
  }

  Value layer(const std::string& name, Value x) {
    const Value h = builder_.state(name + ".h", width_);
    const Value y = norm(name + ".norm1", x);
    const Value f = gate(name + ".forget", y, h);
    const Value c = gate(name + ".candidate", y, builder_.gru_gate(name + ".gated", f, h));
    const Value next = builder_.gru_mix(name + ".next", f, h, c);
    builder_.store(h, next);
    const Value after_gru = builder_.add(name + ".after_gru", next, x);

    if (mlp_ratio_ == 0) return after_gru;

    const int32_t hidden = width_ * mlp_ratio_;
    const Param up = builder_.matrix(name + ".up.w", hidden, width_, init_std_);
    const Param down = builder_.matrix(name + ".down.w", width_, hidden, residual_init_std_);
    const Value expanded = builder_.linear(name + ".up", norm(name + ".norm2", after_gru), up, shift(width_));
    const Value projected = builder_.linear(name + ".down", expanded, down, shift(hidden, "shift_down"));
    return builder_.add(name + ".after_mlp", projected, after_gru);
  }

  void build() {
    Value x = embedded();
    for (int32_t i = 0; i < layers_; ++i) x = layer("layer" + std::to_string(i), x);
    finish(norm("norm_out", x), shift(width_), 65536 / steps_per_bit_);
  }

  bool max_norm_;
  bool gate_clip_twice_;
  int32_t steps_per_bit_;
  ShiftRule rule_ = kInverseSqrt;
  std::map<std::string, int32_t> fixed_;  // by key
};

}  // namespace
}  // namespace eggroll

EGGROLL_MODEL("gru", "1.0.0", eggroll::Gru);
