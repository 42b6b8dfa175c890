// The input is a record.json; a seal in it is made right first, which no mutation finds by chance.
#include <optional>

#include "fuzz/input.h"
#include "fuzz/outcome.h"
#include "record/json.h"
#include "record/record.h"
#include "record/seal.h"

using namespace eggroll;
using namespace eggroll::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(text_of(data, size));
  const nlohmann::ordered_json json = json_or_null(text);
  if (json.is_object() && json.contains("sha256")) {
    text = sealed(json).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
  const std::filesystem::path path = scratch().put("record.json", text);
  std::optional<RunRecord> record;
  if (!accepts([&] { record = read_record(path); })) return 0;
  must_accept("what was read and written again", [&] {
    const std::filesystem::path written = scratch().path() / "written.json";
    write_record(written, *record);
    require(record_to_json(read_record(written)) == record_to_json(*record), "another record");
  });
  return 0;
}
