// What a plugin for x86-64 asks of the processor. Compiled without instruction set flags; __builtin_cpu_supports reads
// CPUID and, for the wide registers, what the operating system saves (XGETBV).
#ifndef EGGROLL_BACKENDS_X86_FEATURES_H
#define EGGROLL_BACKENDS_X86_FEATURES_H

#include <cstddef>
#include <cstdio>
#include <vector>

#include "eggroll/plugin.h"

namespace eggroll {

struct X86Feature {
  const char* name;
  bool here;
  bool needed;
};

// What the kernels on AVX-512 need, and what tells older processors apart.
inline std::vector<X86Feature> avx512_features() {
  return {{"sse4.2", __builtin_cpu_supports("sse4.2") != 0, false},
          {"avx2", __builtin_cpu_supports("avx2") != 0, false},
          {"avx512f", __builtin_cpu_supports("avx512f") != 0, true},
          {"avx512bw", __builtin_cpu_supports("avx512bw") != 0, true},
          {"avx512dq", __builtin_cpu_supports("avx512dq") != 0, true},
          {"avx512vl", __builtin_cpu_supports("avx512vl") != 0, true},
          {"avx512vbmi", __builtin_cpu_supports("avx512vbmi") != 0, true},
          {"avx512vnni", __builtin_cpu_supports("avx512vnni") != 0, true}};
}

// score where every needed feature is here; else 0, and what is missing and what is here in why.
inline int32_t probe_x86(const X86Feature* features, size_t count, int32_t score, egg_error* why) {
  char missing[256] = "";
  char here[256] = "";
  const auto append = [](char(&list)[256], const char* name) {
    size_t end = 0;
    while (list[end] != '\0') ++end;
    std::snprintf(list + end, sizeof(list) - end, " %s", name);
  };
  for (size_t i = 0; i < count; ++i) {
    if (features[i].here) append(here, features[i].name);
    if (features[i].needed && !features[i].here) append(missing, features[i].name);
  }
  if (missing[0] == '\0') return score;
  std::snprintf(why->text, sizeof(why->text), "needs%s; this CPU reports%s", missing, here[0] == '\0' ? " none" : here);
  return 0;
}

}  // namespace eggroll

#endif
