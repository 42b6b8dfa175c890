// Sites (egg_site): each draw is a forward pass of its own from the perturbed value on.
#ifndef EGGROLL_REFERENCE_SITES_H
#define EGGROLL_REFERENCE_SITES_H

#include <cstdint>
#include <vector>

#include "eggroll/site_errors.h"
#include "member.h"

namespace eggroll::reference {

// Runs the unperturbed model over a stream of the sites, and all their draws at each token that has a target. stream:
// its number in the step. states: read at first and written at last. Returns the unperturbed model's loss.
int64_t run_sites(const Model& model, uint64_t step, uint32_t stream, const std::vector<SiteErrors*>& sites,
                  const Stream& tokens, int8_t* states);

}  // namespace eggroll::reference

#endif
