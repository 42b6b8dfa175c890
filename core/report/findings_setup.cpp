#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "record/plot_frame.h"
#include "report/axis_names.h"
#include "report/copies.h"
#include "report/sections.h"
#include "system/number_text.h"
#include "system/text.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

constexpr size_t kMostValues = 6;

// A value of the configuration as text; empty if there is none.
std::string config_text(const RunRecord& record, const std::string& section, const std::string& key) {
  if (!record.config.contains(section) || !record.config.at(section).is_object()) return "";
  const ordered_json& values = record.config.at(section);
  if (!values.contains(key) || values.at(key).is_null() || values.at(key).is_structured()) return "";
  return spoken_number(axis_text(values.at(key)));
}

std::string plugin_text(const RunRecord& record, const std::string& kind) {
  for (const PluginRecord& plugin : record.plugins) {
    if (plugin.kind == kind) return plugin.name;
  }
  return "";
}

// The values that the runs of a study have, each once.
class Said {
 public:
  explicit Said(const Study& study) : study_(study) {}

  using Value = std::function<std::string(const RunRecord&)>;

  // "128, 512 or 2048", "32,768 or 65,536 or 131,072"; numbers by their size, else in the order of the runs. Empty
  // if no run has a value.
  std::string of(const Value& value, const std::string& before_last = " or ") const {
    std::vector<std::string> values;
    for (const StudyRun* run : study_.all_runs()) {
      const std::string text = value(run->run->record);
      if (!text.empty() && std::find(values.begin(), values.end(), text) == values.end()) values.push_back(text);
    }
    const bool are_numbers =
        std::all_of(values.begin(), values.end(), [](const std::string& one) { return number_in(one).has_value(); });
    if (are_numbers) {
      std::sort(values.begin(), values.end(),
                [](const std::string& a, const std::string& b) { return *number_in(a) < *number_in(b); });
    }
    if (values.size() > kMostValues) {
      return are_numbers ? fmt::format("{} to {} ({} values)", values.front(), values.back(), values.size())
                         : fmt::format("{} and {} more", values.front(), values.size() - 1);
    }
    const bool has_commas = std::any_of(values.begin(), values.end(),
                                        [](const std::string& one) { return one.find(',') != std::string::npos; });
    std::string text;
    for (size_t i = 0; i < values.size(); ++i) {
      text += (i == 0 ? "" : has_commas || i + 1 == values.size() ? before_last : ", ") + values[i];
    }
    return text;
  }

  std::string of(const std::string& section, const std::string& key) const {
    return of([&](const RunRecord& record) { return config_text(record, section, key); });
  }

  // "width 64, layers 1": the keys of a section that runs have.
  std::string list(const std::string& section, const std::vector<std::pair<std::string, std::string>>& keys) const {
    std::string text;
    for (const auto& [key, name] : keys) {
      const std::string values = of(section, key);
      if (!values.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, values);
    }
    return text;
  }

 private:
  static std::optional<double> number_in(std::string text) {
    std::erase(text, ',');
    return real_of(text);
  }

  const Study& study_;
};

std::string in_brackets(const std::string& text) { return text.empty() ? "" : " (" + text + ")"; }

std::string model_text(const Said& said) {
  const std::string name = said.of([](const RunRecord& record) {
    const std::string plugin = plugin_text(record, "model");
    return plugin.empty() ? config_text(record, "model", "name") : plugin;
  });
  if (name.empty()) return "";
  std::string text = fmt::format("The model is {}{}", name,
                                 in_brackets(said.list("model", {{"width", "width"},
                                                                 {"layers", "layers"},
                                                                 {"mlp_ratio", "MLP ratio"},
                                                                 {"heads", "heads"},
                                                                 {"vocab", "vocabulary"}})));
  const std::string parameters = said.of([](const RunRecord& record) {
    return record.parameters ? grouped(static_cast<double>(*record.parameters)) : "";
  });
  if (!parameters.empty()) text += fmt::format(" with {} int8 parameters", parameters);
  const std::string checkpoint = said.of([](const RunRecord& record) {
    return record.checkpoint_bytes ? bytes_text(static_cast<double>(*record.checkpoint_bytes)) : "";
  });
  if (!checkpoint.empty()) text += fmt::format("; a checkpoint takes {}", checkpoint);
  return text + ". ";
}

std::string data_text(const Said& said) {
  const std::string data = said.of([](const RunRecord& record) { return record.dataset ? data_of(record) : ""; });
  if (data.empty()) return "";
  const auto size = [&](const char* part) {
    return said.of([&](const RunRecord& record) -> std::string {
      if (!record.dataset || !record.dataset->sizes.contains(part)) return "";
      const ordered_json& count = record.dataset->sizes.at(part);
      return count.is_number() ? grouped(count.get<double>()) : "";
    });
  };
  const std::string unit =
      said.of([](const RunRecord& record) { return record.dataset ? record.dataset->unit + "s" : ""; });
  const std::string train = size("train");
  const std::string held_out = size("held_out");
  std::string text = "The data are " + data;
  if (!train.empty()) text += fmt::format(": {} {} to train on", train, unit);
  if (!train.empty() && !held_out.empty()) text += fmt::format(" and {} held out", held_out);
  text += ". ";
  const std::string overlap = said.of([](const RunRecord& record) {
    const auto telling = record.overlap.find(kTellingWindow);
    return telling == record.overlap.end() ? "" : percent(telling->second);
  });
  if (!overlap.empty()) {
    text += fmt::format("Of the held-out part's windows of {} bytes, {} occur in the training part. ", kTellingWindow,
                        overlap);
  }
  return text;
}

std::string work_text(const Said& said) {
  const auto count = [&](uint64_t RunRecord::*member) {
    return said.of([&](const RunRecord& record) {
      return has_ended_well(record) ? grouped(static_cast<double>(record.*member)) : "";
    });
  };
  const std::string steps = said.of("train", "steps");
  const std::string population = said.of("train", "population");
  if (steps.empty() || population.empty()) return "";
  std::string text = fmt::format("A run takes {} steps with a population of {} members", steps, population);
  const std::string tokens = said.of("train", "tokens");
  if (!tokens.empty()) {
    text += fmt::format(", each of which reads {} token{} a step", tokens, tokens == "1" ? "" : "s");
  }
  const std::string streams = said.of("train", "members_per_stream");
  if (!streams.empty()) text += fmt::format("; {} members read the same tokens", streams);
  text += ". ";
  const std::string all = count(&RunRecord::member_tokens);
  const std::string streams_read = count(&RunRecord::unique_tokens);
  if (!all.empty())
    text += fmt::format(
        "Until its end it reads {} member tokens and {} stream tokens, which count once for all members that share a "
        "stream. ",
        all, streams_read);
  return text;
}

std::string method_text(const Said& said) {
  std::string text;
  const std::string optimizer = said.of([](const RunRecord& record) {
    const std::string plugin = plugin_text(record, "optimizer");
    return plugin.empty() ? config_text(record, "optimizer", "name") : plugin;
  });
  if (!optimizer.empty()) {
    const std::string schedule = said.of([](const RunRecord& record) -> std::string {
      const ordered_json* kind = nullptr;
      const ordered_json::json_pointer place("/optimizer/schedule/kind");
      if (record.config.contains(place)) kind = &record.config.at(place);
      return kind != nullptr && kind->is_string() ? spoken_key(kind->get<std::string>()) : "";
    });
    std::string settings =
        said.list("optimizer", {{"alpha", "alpha"}, {"residual", "residual"}, {"average", "average"}});
    if (!schedule.empty()) settings += (settings.empty() ? "" : ", ") + ("schedule " + schedule);
    text += fmt::format("The optimizer is {}{}. ", optimizer, in_brackets(settings));
  }
  const std::string fitness = said.of("fitness", "name");
  if (!fitness.empty()) text += fmt::format("The fitness is {}. ", fitness);
  const std::string size = said.list("noise", {{"rank", "rank"}, {"sigma_shift", "sigma shift"}});
  const std::string distribution = said.of("noise", "distribution");
  const std::string source = said.of("noise", "source");
  if (!size.empty()) text += fmt::format("The perturbations have {}. ", size);
  if (!distribution.empty() && !source.empty()) {
    text += fmt::format("The noise is {}, of the source {}. ", distribution, source);
  }
  return text;
}

std::string machine_text(const Said& said) {
  const std::string backend = said.of([](const RunRecord& record) { return plugin_text(record, "backend"); });
  const std::string device = said.of([](const RunRecord& record) { return record.device.value_or(""); });
  const std::string threads = said.of([](const RunRecord& record) { return count_text(record.threads, "thread"); });
  const std::string processes = said.of([](const RunRecord& record) -> std::string {
    return record.processes ? fmt::format("{} processes", record.processes->count) : "";
  });
  const std::string version = said.of([](const RunRecord& record) { return record.environment.host_version; });
  const std::string commit = said.of([](const RunRecord& record) { return record.environment.host_commit; });
  std::string text;
  if (!backend.empty() && !device.empty())
    text += fmt::format("The backend is {} on {}, with {}", backend, device, threads);
  if (!text.empty() && !processes.empty()) text += fmt::format(" in each of {}", processes);
  if (!text.empty()) text += ". ";
  return text + fmt::format("The runs are of Eggroll Lab {}, commit {}.", version, commit);
}

std::string repetitions_text(const Study& study, const Said& said) {
  const std::string seeds = said.of([](const RunRecord& record) { return std::to_string(record.seed); }, " and ");
  const bool is_one = seeds.find_first_of(" ,") == std::string::npos;
  const size_t runs = study.runs.size() + study.copies.size();
  const std::string copies = copies_text(study.copies.size(), study.unlike_copies);
  return fmt::format("{} of {} {} made, with {} {}. {}", count_text(runs, "run"),
                     count_text(study.configurations().size(), "configuration"), runs == 1 ? "was" : "were",
                     is_one ? "seed" : "seeds", seeds, copies.empty() ? "" : copies + ". ");
}

std::string evaluation_text(const Said& said) {
  const std::string tokens = said.of(
      [](const RunRecord& record) { return record.final ? grouped(static_cast<double>(record.final->tokens)) : ""; });
  if (tokens.empty()) return "";
  return fmt::format(
      "Bits are those of the unperturbed model after the last step, on all held-out tokens ({} scored). ", tokens);
}

}  // namespace

void add_setup(Draft& draft, const Study& study) {
  const Said said(study);
  draft.heading(3, "Setup");
  draft.paragraph(model_text(said) + data_text(said) + work_text(said) + method_text(said) + evaluation_text(said) +
                  repetitions_text(study, said) + machine_text(said));
}

}  // namespace eggroll
