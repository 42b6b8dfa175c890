// Int8NativeFormer, the transformer of egg.c: embedding with bias; an MLP block; layers of an attention block and an
// MLP block, each added to the residual stream, which is then scaled to its largest magnitude; norm; head. Settings:
// configs/model/int8nativeformer.yaml.
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "common/language_model.h"
#include "common/shift_rule.h"
#include "tables.h"

namespace eggroll {
namespace {

enum ShiftRule { kInverseSqrt, kInverse, kFixed };

// Bits of the magnitude that max_norm gives queries and keys: a score is then a query's share of the largest times a
// key.
constexpr int32_t kNormBits = 7;

class Int8NativeFormer : public LanguageModel {
 public:
  explicit Int8NativeFormer(Settings& settings)
      : LanguageModel(settings, 4, 1, settings.int32("context", 1, 1 << 16)),
        head_width_(settings.int32("head_width", 4, 1 << 14)),
        rule_(static_cast<ShiftRule>(settings.choice("shift_rule", {"inverse_sqrt", "inverse", "fixed"}))),
        fixed_(read_shifts(settings, rule_ == kFixed, {"shift_up", "shift_down", "shift_out", "shift_logits"})),
        shift_qkv_(settings.int32("shift_qkv", 0, kLargestShift)) {
    if (head_width_ % 4 != 0 || width_ % head_width_ != 0) {
      throw setting_error("head_width", "head_width is " + std::to_string(head_width_) +
                                            ", expected a multiple of 4 that divides the width, " +
                                            std::to_string(width_) + "; change one of them");
    }
    gelu_ = builder_.table("gelu", former::gelu_table(settings.int32("gelu_scale", 1, 127)));
    rope_ = builder_.table("rope", former::rope_table(context_, head_width_, settings.real("rope_base", 1.0, 1e9)));
    read_attention(settings);
    // A logit step in Q16 bits.
    const int32_t unit = former::nearest(65536.0 / settings.real("logit_steps_per_bit", 0.25, 256.0));
    settings.finish();
    build(unit);
  }

 private:
  void read_attention(Settings& settings) {
    weighting_ = settings.choice("attention.kind", {"softmax", "sigmoid"});
    if (!settings.is_null("attention.shift")) {
      shift_scores_ = settings.int32("attention.shift", 0, kLargestShift);
    } else if (rule_ != kFixed) {
      shift_scores_ = kNormBits + scaling(head_width_);
    } else {
      throw setting_error("attention.shift", "attention.shift is null, expected an integer from 0 to " +
                                                 std::to_string(kLargestShift) +
                                                 " where shift_rule is fixed; change one of them");
    }
    const bool softmax = weighting_ == EGG_WEIGHT_SOFTMAX;
    const double softmax_steps = settings.real("attention.softmax.steps_per_bit", 0.5, 1024.0);
    const double sigmoid_steps = settings.real("attention.sigmoid.steps_per_bit", 0.5, 1024.0);
    const int32_t softmax_scale = weight_scale(settings, "attention.softmax.scale", softmax);
    const int32_t sigmoid_scale = weight_scale(settings, "attention.sigmoid.scale", !softmax);
    weights_ = builder_.table("attention", softmax ? former::softmax_weights(softmax_steps, softmax_scale)
                                                   : former::sigmoid_weights(sigmoid_steps, sigmoid_scale));
  }

  // log2 of the largest weight of an attention. Its sums of weights times values are int32 and must hold the context.
  int32_t weight_scale(Settings& settings, const std::string& key, bool used) const {
    const int32_t scale = settings.int32(key, 1, 20);
    int32_t largest = 20;
    while (largest > 0 && int64_t{255} * context_ > std::numeric_limits<int32_t>::max() >> largest) --largest;
    if (used && scale > largest) {
      throw setting_error(key, key + " is " + std::to_string(scale) + ", expected at most " + std::to_string(largest) +
                                   " for a context of " + std::to_string(context_) +
                                   ", so that its sums fit 32 bits; lower one of them");
    }
    return scale;
  }

  // log2 of what keeps a product over n inputs in the inputs' range, under the rules that follow from n.
  int32_t scaling(int64_t n) const { return rounded_log2(n, rule_ == kInverse ? 1 : 2); }

  // The right shift after a product over n inputs; key is its setting under shift_rule fixed.
  int32_t shift(const std::string& key, int64_t n) const {
    return rule_ == kFixed ? fixed_.at(key) : fixed_point_ + scaling(n);
  }

  Value norm(const std::string& name, Value x) {
    const Param gain = builder_.vector(name + ".gain", width_, gain_);
    return builder_.l1_norm(name, x, gain, division_, builder_.vector(name + ".b", width_, 0));
  }

  // x plus what a block makes of it, scaled to its largest magnitude.
  Value residual(const std::string& name, Value x, Value made) {
    return builder_.max_norm(name + ".residual", builder_.wide_add(name + ".sum", x, made));
  }

  Value mlp(const std::string& name, Value x) {
    const int32_t hidden = width_ * mlp_ratio_;
    const Value y = norm(name + ".norm", x);
    const Param up = builder_.matrix(name + ".up.w", hidden, width_, init_std_);
    const Value u =
        builder_.linear(name + ".up", y, up, shift("shift_up", width_), builder_.vector(name + ".up.b", hidden, 0));
    const Value active = builder_.lut(name + ".gelu", u, gelu_);
    const Param down = builder_.matrix(name + ".down.w", width_, hidden, residual_init_std_);
    return residual(name, x,
                    builder_.wide_linear(name + ".down", active, down, shift("shift_down", hidden),
                                         builder_.vector(name + ".down.b", width_, 0)));
  }

  // Queries, keys or values: int8, scaled over all channels.
  Value projected(const std::string& name, Value y, bool rotated) {
    Value x = builder_.wide_linear(name + ".wide", y, square(name + ".w", init_std_), shift_qkv_);
    if (rotated) x = builder_.rope(name + ".rotated", x, rope_, head_width_);
    return builder_.max_norm(name, x);
  }

  Value attention(const std::string& name, Value x) {
    const Value y = norm(name + ".norm", x);
    const Value q = projected(name + ".q", y, true);
    const Value k = projected(name + ".k", y, true);
    const Value v = projected(name + ".v", y, false);
    const Value mixed = builder_.attention(name + ".mixed", q, k, v, weights_, head_width_, weighting_, shift_scores_);
    return residual(name, x,
                    builder_.wide_linear(name + ".out", mixed, square(name + ".out.w", residual_init_std_),
                                         shift("shift_out", width_)));
  }

  void build(int32_t unit) {
    const Value tokens = embedded();
    Value x = builder_.add("embedded.biased", tokens, Value{}, builder_.vector("embedding.b", width_, 0));
    x = mlp("init_mlp", x);
    for (int32_t i = 0; i < layers_; ++i) {
      const std::string layer = "layer" + std::to_string(i);
      x = mlp(layer + ".mlp", attention(layer + ".attention", x));
    }
    finish(norm("norm_out", x), shift("shift_logits", width_), unit);
  }

  int32_t head_width_;
  ShiftRule rule_;
  std::map<std::string, int32_t> fixed_;  // by key
  int32_t shift_qkv_;
  int32_t weighting_ = EGG_WEIGHT_SOFTMAX;
  int32_t shift_scores_ = 0;
  Table gelu_;
  Table rope_;
  Table weights_;
};

}  // namespace
}  // namespace eggroll

EGGROLL_MODEL("int8nativeformer", "1.0.0", eggroll::Int8NativeFormer);
