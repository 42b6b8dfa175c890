/* A model plugin in C11 that gives no program. All else is right, unless the including file says otherwise: BASE and
 * BASE_TABLE are fields of the descriptor and of the table, in the place of those here. */
#ifndef EGGROLL_ABI_PLUGINS_BASE_H
#define EGGROLL_ABI_PLUGINS_BASE_H

#include "eggroll/plugin.h"

#ifndef BASE
#define BASE
#endif
#ifndef BASE_TABLE
#define BASE_TABLE
#endif
#ifndef BASE_PROBE
#define BASE_PROBE 1
#endif
#ifndef BASE_OPEN_RESULT
#define BASE_OPEN_RESULT EGG_OK
#endif
#ifndef BASE_NAME
#error "define BASE_NAME"
#endif

static int32_t base_probe(egg_error* why) {
  (void)why;
  return BASE_PROBE;
}

static int32_t base_open(const egg_settings* settings, void** self, egg_error* error) {
  (void)settings;
  (void)self;
  (void)error;
  return BASE_OPEN_RESULT;
}

static void base_close(void* self) { (void)self; }

static int32_t base_program(void* self, const egg_program** program, egg_error* error) {
  (void)self;
  (void)program;
  (void)error;
  return EGG_OK;
}

#ifdef __clang__
#pragma clang diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif
static const egg_model_interface base_table = {sizeof(egg_model_interface), 0, base_program, BASE_TABLE};

extern EGG_EXPORT const egg_plugin_descriptor egg_plugin;
const egg_plugin_descriptor egg_plugin = {EGG_MAGIC,
                                          EGG_ABI_MAJOR,
                                          EGG_ABI_MINOR,
                                          sizeof(egg_plugin_descriptor),
                                          EGG_KIND_MODEL,
                                          0,
                                          EGG_SPEC_HASH,
                                          BASE_NAME,
                                          "1.0",
                                          "by hand",
                                          base_probe,
                                          base_open,
                                          base_close,
                                          &base_table,
                                          BASE};

#endif
