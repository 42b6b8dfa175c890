#include "experiment/workers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "config/tree.h"
#include "eggroll/error.h"
#include "system/machine.h"

namespace eggroll {
namespace {

Error bad_worker(const std::string& text, const std::string& why) {
  return Error(
      fmt::format("the worker '{}' {}, expected cores=0-3, gpu=0 or both; separate workers by semicolons", text, why));
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) {
    if (!trimmed(part).empty()) parts.push_back(trimmed(part));
  }
  return parts;
}

int number_in(const std::string& text, const std::string& worker) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    throw bad_worker(worker, fmt::format("has '{}' in place of a number", text));
  }
  return number;
}

// "0-3,8".
std::vector<int> numbers_in(const std::string& text, const std::string& worker) {
  std::vector<int> numbers;
  for (const std::string& part : split(text, ',')) {
    const size_t dash = part.find('-');
    const int first = number_in(part.substr(0, dash), worker);
    const int last = dash == std::string::npos ? first : number_in(part.substr(dash + 1), worker);
    if (last < first || last - first > 4096) throw bad_worker(worker, fmt::format("has the range '{}'", part));
    for (int n = first; n <= last; ++n) numbers.push_back(n);
  }
  if (numbers.empty()) throw bad_worker(worker, "names no number");
  return numbers;
}

}  // namespace

std::vector<Worker> parse_workers(const std::string& text) {
  const std::vector<int> usable = usable_cores();
  std::vector<Worker> workers;
  for (const std::string& one : split(text, ';')) {
    Worker worker{one, {}, ""};
    for (const std::string& word : split(one, ' ')) {
      const size_t equals = word.find('=');
      const std::string key = word.substr(0, equals);
      if (equals == std::string::npos || (key != "cores" && key != "gpu")) {
        throw bad_worker(one, fmt::format("has the word '{}'", word));
      }
      const std::vector<int> numbers = numbers_in(word.substr(equals + 1), one);
      if (key == "gpu") {
        worker.gpus = fmt::format("{}", fmt::join(numbers, ","));
        continue;
      }
      if (!can_pin_cores()) {
        throw Error(fmt::format(
            "the worker '{}' has cores, but this system pins no cores; leave them out, or give --jobs", one));
      }
      for (const int core : numbers) {
        if (std::find(usable.begin(), usable.end(), core) == usable.end()) {
          throw bad_worker(one, fmt::format("names core {}, which this process may not use", core));
        }
      }
      worker.cores = numbers;
    }
    workers.push_back(std::move(worker));
  }
  if (workers.empty()) throw bad_worker(text, "is empty");
  return workers;
}

std::vector<Worker> even_workers(uint32_t count) {
  if (count == 1) return {Worker{"all cores", {}, ""}};
  const std::vector<int> usable = usable_cores();
  if (usable.size() < count) {
    throw Error(fmt::format(
        "--jobs is {}, expected at most the {} cores that this process may use; let points share cores with --workers",
        count, usable.size()));
  }
  std::vector<Worker> workers;
  for (uint32_t i = 0; i < count; ++i) {
    if (!can_pin_cores()) {
      workers.push_back({fmt::format("job {}", i + 1), {}, ""});
      continue;
    }
    const std::vector<int> cores(usable.begin() + static_cast<std::ptrdiff_t>(usable.size() * i / count),
                                 usable.begin() + static_cast<std::ptrdiff_t>(usable.size() * (i + 1) / count));
    workers.push_back({fmt::format("cores {}", fmt::join(cores, ",")), cores, ""});
  }
  return workers;
}

}  // namespace eggroll
