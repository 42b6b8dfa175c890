// What a session's sites need on a device. Host code, no CUDA.
#ifndef EGGROLL_CUDA_SITE_PLAN_H
#define EGGROLL_CUDA_SITE_PLAN_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "eggroll/lowered_program.h"
#include "eggroll/site_errors.h"
#include "layout.h"

namespace eggroll::cuda {

constexpr uint32_t kSitePiece = 256;             // most reads of a row that a warp adds up
constexpr uint32_t kMostDrawRows = 4096;         // of a Hadamard matrix, at the logits
constexpr uint32_t kMostDrawMembers = 1U << 20;  // of a launch of draws within the program

// The most places whose draws fit in one launch.
inline uint32_t most_places(const SiteShape& site) { return std::max(1U, kMostDrawMembers / (2 * site.site.draws)); }

// A value whose rows are kept for sites: sites perturb it, their linears multiply it, draws take it, or the draws'
// attention reads it.
struct KeptValue {
  int32_t value;
  uint32_t bytes;  // of a row, padding included
  size_t before;   // bytes of the rows of others at one token
};

// A parameter that votes with a site, with each op that reads it: of a table what says the row, as RowTable's readers;
// of a matrix the value that it is multiplied by; of a vector nothing.
struct SiteVoter {
  uint32_t param;
  uint32_t site;
  uint32_t rows;
  uint32_t cols;
  std::vector<int32_t> reads;
};

// The program that draws at a value within the model run at its token: ops_of_draw as a program whose states are what
// these ops read.
struct BehindProgram {
  BehindProgram(const egg_program& program, const egg_site& site);
  BehindProgram(const BehindProgram&) = delete;
  BehindProgram& operator=(const BehindProgram&) = delete;

  std::vector<uint32_t> sources;
  std::vector<uint32_t> caches;  // as OpsOfDraw::cached
  std::vector<egg_value> values;
  std::vector<egg_op> ops;
  egg_program view;
};

struct SitePlan {
  SitePlan() = default;
  SitePlan(const egg_session_spec& spec, const std::vector<LoweredParam>& params);

  static uint32_t error_stride(const SiteShape& site) { return padded(site.size, kBlock); }
  // Bytes of a key and a value.
  static uint32_t cached_bytes_of(const egg_program& program, const egg_op& attention);
  size_t kept_offset(int32_t value) const;
  // Errors and places of the sites before this one.
  size_t errors_before(uint32_t site) const;
  size_t places_before(uint32_t site) const;
  // The number of tokens after its own whose losses a draw at the value changes.
  uint32_t horizon(const SiteShape& site) const;

  // What a population takes, in elements.
  struct Room {
    size_t streams = 0;
    size_t places = 0;
    size_t errors = 0;
    size_t kept = 0;
    size_t reads = 0;        // of tables
    size_t pieces = 0;       // of these
    size_t shared_rows = 0;  // that several pieces have
    size_t votes = 0;        // of these
    size_t draws = 0;        // members of a launch of draws within
    size_t draws_that_go_on = 0;
    size_t later_tokens = 0;  // of the places of such a launch
    size_t cached = 0;        // bytes: keys and values of its draws

    // The same with one more table. full: the full pieces of its reads. Only the last piece of a row may be less full.
    Room after(uint32_t rows, uint32_t cols, size_t its_reads, size_t full) const;
    Room after(const SiteVoter& table, size_t its_places) const {
      const size_t its_reads = its_places * table.reads.size();
      return after(table.rows, table.cols, its_reads, its_reads / kSitePiece);
    }
  };
  Room room(uint32_t population) const;

  std::vector<SiteShape> sites;
  std::vector<bool> is_within;  // by site: its value is not what the loss reads
  std::vector<KeptValue> kept;
  uint32_t kept_row = 0;      // bytes of all at one token
  uint32_t cached_bytes = 0;  // of the keys and values of all attention at one token of a draw
  uint32_t first_stream = 0;  // of those of any site
  uint32_t streams = 0;       // from there to the last
  std::vector<SiteVoter> tables;
  std::vector<SiteVoter> matrices;
  std::vector<SiteVoter> vectors;
  uint32_t population = 0;
  uint32_t pairs_of_stream = 1;
};

}  // namespace eggroll::cuda

#endif
