// The plan of a session, which backends make before they take memory, and the Error if it does not fit.
#ifndef EGGROLL_SESSION_PLAN_H
#define EGGROLL_SESSION_PLAN_H

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "eggroll/error.h"
#include "eggroll/plugin.h"

namespace eggroll {

// See egg_session_plan.
struct SessionPlan {
  uint64_t memory;
  std::string device;
  std::string plan;
};

// "3.1 GiB", or "12.4 MiB" below one GiB.
inline std::string memory_text(uint64_t bytes) {
  const bool large = bytes >= UINT64_C(1) << 30;
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %s", static_cast<double>(bytes) / (large ? 1 << 30 : 1 << 20),
                large ? "GiB" : "MiB");
  return text;
}

// The session's own members in a population of this size: the spec's share of it, rounded up to whole pairs.
inline uint32_t own_members(const egg_session_spec& spec, uint32_t population) {
  const uint64_t all = spec.population / 2;
  return static_cast<uint32_t>(2 * ((uint64_t{population / 2} * (spec.members / 2) + all - 1) / all));
}

// The largest even population up to `most` that takes no more than `room` bytes; 0 if not even 2 members fit.
// memory(population) returns the bytes that it takes, which must not fall as it grows.
template <class Memory>
uint32_t largest_population(uint32_t most, uint64_t room, const Memory& memory) {
  uint32_t fit = 0;  // pairs
  uint32_t too_many = most / 2 + 1;
  while (too_many - fit > 1) {
    const uint32_t pairs = fit + (too_many - fit) / 2;
    (memory(2 * pairs) <= room ? fit : too_many) = pairs;
  }
  return 2 * fit;
}

// bytes: what the population takes. largest: see largest_population.
inline Error no_room(uint32_t population, uint64_t bytes, uint64_t room, uint32_t largest) {
  return Error("a population of " + std::to_string(population) + " takes " + memory_text(bytes) +
                   " of memory, expected at most the " + memory_text(room) + " that there is room for; use " +
                   (largest > 0 ? "at most " + std::to_string(largest) + " members or " : "") + "a smaller model",
               EGG_ERROR_MEMORY);
}

// Returns the bytes that the population takes. memory: see largest_population. Throws no_room's Error if room is less.
template <class Memory>
uint64_t bytes_in_room(uint32_t population, uint64_t room, const Memory& memory) {
  const uint64_t bytes = memory(population);
  if (bytes > room) throw no_room(population, bytes, room, largest_population(population, room, memory));
  return bytes;
}

template <size_t kSize>
void write_plan_text(const std::string& from, char (&to)[kSize], const char* what) {
  if (from.size() >= kSize) {
    throw Error(std::string("the session's ") + what + " takes " + std::to_string(from.size()) +
                " characters, expected at most " + std::to_string(kSize - 1) + "; shorten it");
  }
  std::memcpy(to, from.c_str(), from.size() + 1);
}

inline void write_plan(const SessionPlan& from, egg_session_plan& to) {
  to.memory = from.memory;
  write_plan_text(from.device, to.device, "device");
  write_plan_text(from.plan, to.plan, "plan");
}

}  // namespace eggroll

#endif
