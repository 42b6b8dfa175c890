/* A model plugin in C11 that gives no program. All else is right, unless the including file defines it otherwise. */
#ifndef EGGROLL_ABI_PLUGINS_BASE_H
#define EGGROLL_ABI_PLUGINS_BASE_H

#include "eggroll/plugin.h"

#ifndef BASE_MAGIC
#define BASE_MAGIC EGG_MAGIC
#endif
#ifndef BASE_MAJOR
#define BASE_MAJOR EGG_ABI_MAJOR
#endif
#ifndef BASE_MINOR
#define BASE_MINOR EGG_ABI_MINOR
#endif
#ifndef BASE_STRUCT_SIZE
#define BASE_STRUCT_SIZE sizeof(egg_plugin_descriptor)
#endif
#ifndef BASE_KIND
#define BASE_KIND EGG_KIND_MODEL
#endif
#ifndef BASE_SPEC_HASH
#define BASE_SPEC_HASH EGG_SPEC_HASH
#endif
#ifndef BASE_TABLE_SIZE
#define BASE_TABLE_SIZE sizeof(egg_model_interface)
#endif
#ifndef BASE_VERSION
#define BASE_VERSION "1.0"
#endif
#ifndef BASE_BUILD
#define BASE_BUILD "by hand"
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

#ifndef BASE_CLOSE
#define BASE_CLOSE base_close
static void base_close(void* self) { (void)self; }
#endif

#ifndef BASE_PROGRAM
#define BASE_PROGRAM base_program
static int32_t base_program(void* self, const egg_program** program, egg_error* error) {
  (void)self;
  (void)program;
  (void)error;
  return EGG_OK;
}
#endif

static const egg_model_interface base_table = {BASE_TABLE_SIZE, 0, BASE_PROGRAM};

extern EGG_EXPORT const egg_plugin_descriptor egg_plugin;
const egg_plugin_descriptor egg_plugin = {BASE_MAGIC, BASE_MAJOR,     BASE_MINOR, BASE_STRUCT_SIZE, BASE_KIND,
                                          0,          BASE_SPEC_HASH, BASE_NAME,  BASE_VERSION,     BASE_BUILD,
                                          base_probe, base_open,      BASE_CLOSE, &base_table};

#endif
