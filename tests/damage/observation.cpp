#include "damage/observation.h"

#include <httplib.h>

#include <nlohmann/json.hpp>

namespace eggroll::test {
namespace {

using nlohmann::ordered_json;

// A process that is killed when it does not end.
Result ended(Process& process, Observation& observation) {
  observation.took_too_long = process.wait_until([&] { return process.processor_seconds() > kMostProcessorSeconds; });
  if (observation.took_too_long) process.signal(SIGKILL);
  return process.wait();
}

std::string bytes_below(const fs::path& folder) {
  std::string all;
  if (!fs::exists(folder)) return all;
  for (const fs::path& file : files_below(folder)) all += file.string() + "\n" + read_file(folder / file);
  return all;
}

// Adds the weights and figures of the runs. A finished run adds only its record, because the command must neither read
// nor change its other files.
void add_runs(const Specimen& specimen, const fs::path& folder, const std::vector<fs::path>& runs,
              Observation& observation) {
  for (const fs::path& run : runs) {
    const fs::path now = folder / run;
    const auto record = ordered_json::parse(bytes_of(now / "record.json"), nullptr, false);
    const auto before = ordered_json::parse(bytes_of(specimen.folder / run / "record.json"), nullptr, false);
    observation.figures += figures_of_record(now) + "\n";
    observation.weights +=
        (record.is_object() ? record.value("weights_sha256", ordered_json()) : ordered_json()).dump() + "\n";
    if (before.is_object() && before.value("status", "") == "completed") continue;
    observation.weights += newest_weights(now);
    observation.figures += figures_of_metrics(now) + bytes_of(now / "journal.bin");
  }
}

bool tells_of_damage(const ordered_json& json) {
  if (json.is_object()) {
    if (json.value("status", ordered_json()) == "unreadable") return true;
    if (json.contains("problems") && !json["problems"].empty()) return true;
    // The first text stands in the place of one that cannot be shown, the second before one that was changed.
    if (json.contains("config") && json["config"].is_string()) {
      const std::string text = json["config"];
      if (text.find("restore it") != std::string::npos || text.starts_with("# No checksum")) return true;
    }
  }
  if (!json.is_structured()) return false;
  return std::any_of(json.begin(), json.end(), [](const ordered_json& part) { return tells_of_damage(part); });
}

// All figures that the page asks for; logs and samples are no figures.
std::string shown_by(int port, bool& tells, bool& has_read_all) {
  httplib::Client client("127.0.0.1", port);
  client.set_read_timeout(kPatience);
  const auto get = [&](const std::string& path) {
    const auto reply = client.Get(path);
    return reply && reply->status == 200 ? reply->body : "no answer to " + path;
  };
  std::string figures = get("/").size() > 1000 ? "the page\n" : "no page\n";
  ordered_json runs = ordered_json::parse(get("/api/runs"), nullptr, false);
  has_read_all = runs.is_object() && runs["reading"].is_null() && runs["unread"] == 0;
  std::vector<std::string> paths;
  if (runs.is_object()) {
    for (const ordered_json& run : runs["runs"]) {
      const httplib::Params folder = {{"folder", run.at("folder").get<std::string>()}};
      paths.push_back(httplib::append_query_params("/api/run", folder));
      paths.push_back(httplib::append_query_params("/api/curve", folder));
    }
  }
  tells = tells_of_damage(runs);
  // A server of a damaged folder may list runs in another order.
  erase_times(runs);
  figures += runs.dump() + "\n";
  for (const std::string& path : paths) {
    ordered_json reply = ordered_json::parse(get(path), nullptr, false);
    tells = tells || tells_of_damage(reply);
    if (reply.is_object()) {
      reply.erase("log");
      reply.erase("samples");
    }
    erase_times(reply);
    figures += reply.dump() + "\n";
  }
  return figures;
}

void serve(Process& process, Observation& observation) {
  if (!process.wait_until([&] { return process.out().find('\n') != std::string::npos; })) return;
  const size_t colon = process.out().find(':', process.out().find("127.0.0.1"));
  const int port = colon == std::string::npos ? 0 : std::atoi(process.out().c_str() + colon + 1);
  bool has_read_all = false;
  process.wait_until([&] {
    observation.figures = shown_by(port, observation.tells_of_damage, has_read_all);
    return has_read_all;
  });
  process.signal(SIGTERM);
}

}  // namespace

std::vector<std::string> commands_for(const Specimen& specimen) {
  std::vector<std::string> all = {"resume", "replay", "sample", "report", "export", "compare", "serve"};
  if (specimen.is_sweep) all.emplace_back("sweep");
  return all;
}

Arguments arguments_of(const std::string& command, const Specimen& specimen, const fs::path& run) {
  if (command == "sweep") return specimen.again;
  if (command == "report") return {"report", specimen.target, "--out", "report"};
  if (command == "export") return {"export", specimen.target, "--csv", "export.csv", "--tensorboard", "board"};
  if (command == "compare") return {"compare", specimen.target, specimen.folder / specimen.target};
  if (command == "serve") return {"serve", "results", "--port", "0"};
  return {command, run};
}

Observation observe(const std::string& command, const Arguments& arguments, const Specimen& specimen,
                    const fs::path& run, const fs::path& folder) {
  Observation observation;
  Process process(folder, arguments);
  if (command == "serve") serve(process, observation);
  observation.result = ended(process, observation);
  if (!observation.result.err.empty()) observation.tells_of_damage = true;
  if (observation.result.exit_code != 0) return observation;
  if (command == "resume") {
    add_runs(specimen, folder, {run}, observation);
  } else if (command == "sweep") {
    std::vector<fs::path> runs;
    for (const fs::path& point : runs_below(folder)) runs.push_back(point.lexically_relative(folder));
    add_runs(specimen, folder, runs, observation);
  } else if (command == "report") {
    observation.figures =
        bytes_of(folder / "report" / "runs.csv") + bytes_of(folder / "report" / "curves.csv") + observation.result.out;
  } else if (command == "export") {
    observation.figures = read_file(folder / "export.csv") + bytes_below(folder / "board");
  } else if (command != "serve") {
    observation.figures = observation.result.out;
  }
  return observation;
}

}  // namespace eggroll::test
