// Metrics as TensorBoard reads them: event files of scalars.
#ifndef EGGROLL_REPORT_TENSORBOARD_H
#define EGGROLL_REPORT_TENSORBOARD_H

#include <filesystem>

#include "report/csv.h"

namespace eggroll {

// Writes FOLDER/RUN/events.out.tfevents.TIME.eggroll for each run with metrics; an older export of the run is replaced.
// Every number of every line is a scalar of 32 bits, nested ones under tags with slashes; a line's time is the run's
// start and the seconds of its steps. Throws if no run has metrics.
ExportSummary export_tensorboard(const Collection& collection, const std::filesystem::path& folder);

}  // namespace eggroll

#endif
