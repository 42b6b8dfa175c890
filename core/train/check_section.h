// The limits of the configuration's keys, for who has no plugins.
#ifndef EGGROLL_TRAIN_CHECK_SECTION_H
#define EGGROLL_TRAIN_CHECK_SECTION_H

#include <string>

#include "config/tree.h"

namespace eggroll {

// Throws Error where a run would refuse what the host itself reads of the section, whatever other sections hold. Of
// sections that plugins read it knows optimizer.average alone.
void check_section(const ConfigNode& config, const std::string& section);

}  // namespace eggroll

#endif
