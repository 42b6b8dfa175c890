// What the models share: the settings of embedding, head and sizes, and the ops before the first layer and after the
// last. Tables read by the hash of the last tokens may add to the embedding and to the logits.
#ifndef EGGROLL_MODELS_COMMON_LANGUAGE_MODEL_H
#define EGGROLL_MODELS_COMMON_LANGUAGE_MODEL_H

#include "common/context_tables.h"
#include "eggroll/arithmetic.h"
#include "eggroll/model.h"

namespace eggroll {

class LanguageModel : public Model {
 public:
  const egg_program* program() override { return builder_.view(); }

 protected:
  // context: tokens that a call may read; 0: any number.
  LanguageModel(Settings& settings, int32_t least_width, int32_t least_mlp_ratio, int32_t context)
      : vocab_(settings.int32("vocab", 2, EGG_LOSS_VOCAB_MAX)),
        width_(settings.int32("width", least_width, 1 << 14)),
        layers_(settings.int32("layers", 1, 1024)),
        mlp_ratio_(settings.int32("mlp_ratio", least_mlp_ratio, 64)),
        context_(context),
        context_tables_(settings, "context_tables", vocab_),
        logit_tables_(settings, "logit_tables", vocab_),
        tied_head_(settings.boolean("tied_head")),
        fixed_point_(settings.int32("fixed_point", 0, 12)),
        division_(settings.choice("norm_division", {"reciprocal", "truncate", "floor"})),
        init_std_(settings.int32("init_std", 0, 127)),
        table_init_std_(settings.int32("table_init_std", 0, 127)),
        residual_init_std_(settings.int32("residual_init_std", 0, 127)),
        head_init_std_(settings.int32("head_init_std", 0, 127)),
        gain_(settings.int32("gain", 1, 127)),
        builder_(vocab_, fixed_point_, settings.choice("rounding", {"floor", "nearest"}), context_) {}

  Value embedded() {
    embedding_ = builder_.matrix("embedding", vocab_, width_, init_std_);
    return context_tables_.add_to(builder_, builder_.embed("embedded", embedding_), "context", table_init_std_);
  }

  // shift: of the product with the head; unit: of the loss.
  void finish(Value x, int32_t shift, int32_t unit) {
    const Param head = tied_head_ ? embedding_ : builder_.matrix("head", vocab_, width_, head_init_std_);
    const Value logits = builder_.linear("logits", x, head, shift);
    builder_.loss(logit_tables_.add_to(builder_, logits, "logit_context", table_init_std_), unit);
  }

  Param square(const std::string& name, int32_t init_std) { return builder_.matrix(name, width_, width_, init_std); }

  int32_t vocab_;
  int32_t width_;
  int32_t layers_;
  int32_t mlp_ratio_;
  int32_t context_;
  ContextTables context_tables_;
  ContextTables logit_tables_;
  bool tied_head_;
  int32_t fixed_point_;
  int32_t division_;
  int32_t init_std_;
  int32_t table_init_std_;
  int32_t residual_init_std_;
  int32_t head_init_std_;
  int32_t gain_;
  ProgramBuilder builder_;

 private:
  Param embedding_;
};

}  // namespace eggroll

#endif
