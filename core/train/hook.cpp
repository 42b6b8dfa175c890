#include "train/hook.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "config/host_settings.h"
#include "record/json.h"
#include "system/files.h"
#include "system/machine.h"
#include "system/process.h"
#include "system/text.h"
#include "train/sample.h"

namespace eggroll {
namespace {

using nlohmann::ordered_json;

constexpr size_t kMostOutput = size_t{64} << 10;
constexpr size_t kMostNumbers = 100;
constexpr size_t kLongestName = 60;
constexpr size_t kQuoted = 300;  // bytes of what the program wrote

bool is_name(const std::string& text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && text.size() <= kLongestName && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// Takes the members of one object as the parser reads them: a parsed document would hide that a name occurs twice.
class NumbersHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  HookNumbers numbers;

  bool null() override { return other("null"); }
  bool boolean(bool value) override { return other(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
  bool number_float(number_float_t value, const string_t& text) override {
    return std::isfinite(value) ? number(value) : other(text);
  }
  bool string(string_t&) override { return other("text"); }
  bool binary(binary_t&) override { return other("bytes"); }
  bool start_object(std::size_t) override {
    if (!in_object_) return in_object_ = true;
    return other("an object");
  }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return other("a list"); }
  bool end_array() override { return true; }
  bool key(string_t& name) override {
    const std::string shown = one_line(name, kLongestName);
    if (!is_name(name)) {
      throw Error(fmt::format("wrote the name '{}', expected letters, digits and _, no digit first, {} at most", shown,
                              kLongestName));
    }
    const bool is_known =
        std::any_of(numbers.begin(), numbers.end(), [&](const auto& known) { return known.first == name; });
    if (is_known) throw Error(fmt::format("wrote the name '{}' twice, expected each once", shown));
    if (numbers.size() == kMostNumbers) {
      throw Error(fmt::format("wrote more than {} numbers, expected fewer", kMostNumbers));
    }
    name_ = name;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override { return false; }

 private:
  bool number(double value) {
    if (!in_object_) return false;
    numbers.emplace_back(name_, value);
    return true;
  }
  bool other(const std::string& what) const {
    if (!in_object_) return false;
    throw Error(fmt::format("wrote {} as '{}', expected a finite number", what, name_));
  }

  bool in_object_ = false;
  std::string name_;
};

// Adds the tokens and, if they stand for text, the text.
void put_tokens(ordered_json& input, const std::string& name, const std::vector<uint32_t>& tokens,
                const Dataset& dataset) {
  if (dataset.vocabulary) {
    input[name] = dataset.vocabulary->text(tokens);
  } else if (dataset.unit == "byte") {
    input[name] = Vocabulary::of_bytes().text(tokens);
  }
  input[name + "_tokens"] = tokens;
}

std::string input_of(const HookSettings& hook, const Setup& setup, const RunFolder& folder, BackendSession& session,
                     const StepRecord& step) {
  ordered_json input = {{"run", std::filesystem::absolute(folder.path).lexically_normal().string()},
                        {"unit", setup.dataset.unit}};
  StepRecord evaluation = step;  // without what the step did, since times differ from one run to another
  evaluation.numbers.reset();
  evaluation.monitor.reset();
  input.update(to_json(evaluation));
  const std::vector<uint32_t> prompt = held_out_prompt(setup.dataset);
  put_tokens(input, "prompt", prompt, setup.dataset);
  put_tokens(input, "sample", sample(session, *setup.learner.program, prompt, hook.sample), setup.dataset);
  // What is no UTF-8 becomes U+FFFD; the tokens are exact.
  return input.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// What went wrong with the program, or "".
std::string complaint_of(const Conversation& talk, const HookSettings& hook) {
  if (talk.failure != 0) return "could not be started: " + std::generic_category().message(talk.failure);
  if (talk.too_long)
    return fmt::format("wrote more than {} bytes, expected one JSON object, and was killed", kMostOutput);
  if (talk.out_of_time) return fmt::format("took more than {:g} s (eval.hook_seconds) and was killed", hook.seconds);
  return talk.status != 0 ? "ended with " + ending_of(talk.status) : "";
}

std::string quoted(const char* where, const std::string& text) {
  const std::string shown = trimmed(one_line(trimmed(text), kQuoted));
  return shown.empty() ? "" : fmt::format("; {}: '{}'", where, shown);
}

}  // namespace

std::optional<HookSettings> read_hook(Settings& s, const ConfigNode* words) {
  if (words == nullptr) return std::nullopt;
  HookSettings hook;
  const HostSection host(s, "eval");
  hook.seconds = host.real("hook_seconds");
  hook.sample.count = host.whole<uint32_t>("hook_sample.tokens");
  hook.sample.temperature = host.real("hook_sample.temperature");
  hook.sample.seed = host.whole<uint64_t>("hook_sample.seed");
  if (words->kind() == ConfigNode::Kind::kNull) {
    s.is_null("hook");
    return std::nullopt;
  }
  for (size_t i = 0; s.has(fmt::format("hook.{}", i)); ++i) hook.words.push_back(s.text(fmt::format("hook.{}", i)));
  if (hook.words.empty() || hook.words[0].empty()) {
    const bool is_list = words->kind() == ConfigNode::Kind::kList;
    throw setting_error("hook", fmt::format("hook is {}, expected a list of a program and its arguments such as "
                                            "[./score.py], or null",
                                            is_list ? "a list without a program" : shown_value(*words)));
  }
  return hook;
}

HookNumbers hook_numbers_in(const std::string& text) {
  NumbersHandler handler;
  if (!is_bounded_json(text) || !nlohmann::json::sax_parse(text, &handler)) {
    throw Error("wrote no JSON object of names and finite numbers, expected one such as {\"score\": 0.5}");
  }
  return handler.numbers;
}

std::optional<HookNumbers> ask_hook(const HookSettings& hook, const Setup& setup, const RunFolder& folder,
                                    BackendSession& session, const StepRecord& step, const std::atomic<bool>* stop) {
  if (stop != nullptr && stop->load()) return std::nullopt;
  const Descriptor input = unnamed_file(input_of(hook, setup, folder, session, step));
  const Conversation talk = converse(hook.words, input, {hook.seconds, kMostOutput, kQuoted, stop});
  if (talk.stopped) return std::nullopt;
  std::string complaint = complaint_of(talk, hook);
  try {
    if (complaint.empty()) return hook_numbers_in(talk.output);
  } catch (const Error& error) {
    complaint = error.what();
  }
  throw Error(fmt::format("the hook '{}' at step {} {}{}{}; mend it and go on with: eggroll resume {} --hook",
                          one_line(fmt::format("{}", fmt::join(hook.words, " ")), kQuoted), step.step, complaint,
                          quoted("it wrote", talk.output), quoted("on standard error", talk.errors),
                          folder.path.string()));
}

}  // namespace eggroll
