/* A model plugin in C11 alone: an embedding whose rows are the logits. Setting: vocab. */
#include <stdlib.h>
#include <string.h>

#include "eggroll/plugin.h"

struct model {
  egg_param param;
  egg_value value;
  egg_op ops[2];
  egg_program program;
};

static int32_t fail(egg_error* error, const char* key, const char* text) {
  error->code = EGG_ERROR_CONFIG;
  strncpy(error->key, key, sizeof(error->key) - 1);
  strncpy(error->text, text, sizeof(error->text) - 1);
  return EGG_ERROR_CONFIG;
}

static int32_t c_probe(egg_error* why) {
  (void)why;
  return 1;
}

static int32_t c_open(const egg_settings* settings, void** self, egg_error* error) {
  int32_t vocab = 0;
  for (uint32_t i = 0; i < settings->count; ++i) {
    const egg_setting* item = &settings->items[i];
    if (strcmp(item->key, "vocab") != 0) return fail(error, item->key, "the key is not known; remove it");
    if (item->type != EGG_SETTING_INTEGER || item->integer < 2 || item->integer > 256) {
      return fail(error, "vocab", "vocab is out of range, expected an integer from 2 to 256");
    }
    vocab = (int32_t)item->integer;
  }
  if (vocab == 0) return fail(error, "vocab", "vocab is missing; add it");

  struct model* model = malloc(sizeof(*model));
  if (model == NULL) return EGG_ERROR_MEMORY;
  model->param = (egg_param){"table", EGG_PARAM_MATRIX, vocab, vocab, EGG_INIT_NORMAL, 16, 1};
  model->value = (egg_value){"logits", vocab, 0, 0, 0};
  model->ops[0] = (egg_op){EGG_OP_EMBED, 0, {-1, -1, -1}, {0, -1}, 0, -1, 0, 0};
  model->ops[1] = (egg_op){EGG_OP_LOSS, -1, {0, -1, -1}, {-1, -1}, 4096, -1, 0, 0};
  model->program =
      (egg_program){sizeof(egg_program), vocab, 4,   EGG_ROUND_NEAREST, 1, 1, 2, 0, 0, 0, &model->param, &model->value,
                    model->ops,          NULL,  NULL};
  *self = model;
  return EGG_OK;
}

static void c_close(void* self) { free(self); }

static int32_t c_program(void* self, const egg_program** program, egg_error* error) {
  (void)error;
  *program = &((const struct model*)self)->program;
  return EGG_OK;
}

static const egg_model_interface c_table = {sizeof(egg_model_interface), 0, c_program};

extern EGG_EXPORT const egg_plugin_descriptor egg_plugin;
const egg_plugin_descriptor egg_plugin = {EGG_MAGIC,      EGG_ABI_MAJOR,
                                          EGG_ABI_MINOR,  sizeof(egg_plugin_descriptor),
                                          EGG_KIND_MODEL, 0,
                                          EGG_SPEC_HASH,  "c_model",
                                          "1.0",          "by hand",
                                          c_probe,        c_open,
                                          c_close,        &c_table};
