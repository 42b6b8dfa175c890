// Finds the axes that the runs of a study vary.
#ifndef EGGROLL_REPORT_AXES_H
#define EGGROLL_REPORT_AXES_H

#include "report/study.h"

namespace eggroll {

// Gives the study its axes and each run its values: the axes of the sweep, then what overrides set and keys of the
// configuration that neither they nor the seed account for.
void find_axes(Study& study);

}  // namespace eggroll

#endif
