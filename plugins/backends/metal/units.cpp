#include <cstdlib>
#include <string>

#include "device.h"
#include "eggroll/error.h"

namespace eggroll::metal {

MatrixUnits wanted_units() {
  const char* text = std::getenv("EGGROLL_METAL_UNITS");
  const std::string units = text == nullptr ? "" : text;
  if (units.empty()) return MatrixUnits::kAuto;
  if (units == "int8") return MatrixUnits::kInt8;
  if (units == "half") return MatrixUnits::kHalf;
  throw Error("EGGROLL_METAL_UNITS is '" + units + "', expected int8, half or nothing; unset it", EGG_ERROR_CONFIG);
}

}  // namespace eggroll::metal
