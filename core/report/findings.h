// Findings: the results of a collection's runs as Markdown, as one page, as figures and as tables.
#ifndef EGGROLL_REPORT_FINDINGS_H
#define EGGROLL_REPORT_FINDINGS_H

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "report/collection.h"

namespace eggroll {

struct FindingsSummary {
  std::vector<std::string> answers;   // a line for each claim
  std::vector<std::string> problems;  // of the collection, and figures that could not be drawn
};

// Writes findings.md, findings.html, runs.csv, curves.csv, plots/* and tables/*.tex into the folder, which is made if
// it is missing. notes: the page's text before all figures. Throws if there is no run.
FindingsSummary write_findings(const Collection& collection, const std::string& title,
                               const std::filesystem::path& folder, const std::vector<std::string>& notes = {});

// The address of a run's page.
using RunAddress = std::function<std::string(const CollectedRun&)>;

// The same page for a server, as HTML. It writes no file: figures stand in the page, and runs lead to their pages. Its
// script is the one of page_assets(), and it says when it was made.
std::string served_findings(const Collection& collection, const std::string& title,
                            const std::vector<std::string>& notes, const RunAddress& address);

// The paragraphs of report-notes.md in the folder, and in the one above it, which hold for all reports below.
std::vector<std::string> notes_for(const std::filesystem::path& folder);

}  // namespace eggroll

#endif
