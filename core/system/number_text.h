// How numbers become text that people read: short, and the same everywhere.
#ifndef EGGROLL_SYSTEM_NUMBER_TEXT_H
#define EGGROLL_SYSTEM_NUMBER_TEXT_H

#include <cstddef>
#include <string>
#include <vector>

namespace eggroll {

// Four significant digits: "3.487", "-0.01234", "0", "1.5e-07".
std::string text_of(double value);

// Numbers that are read together have the same number of decimals, which gives the largest of them four significant
// digits: "4.870" and "4.956".
class Decimals {
 public:
  explicit Decimals(const std::vector<double>& together);
  // With more decimals where two significant digits of one of these need them: small bits are not all 0.000 then.
  Decimals& with_digits_of(const std::vector<double>& values);
  std::string operator()(double value) const;

 private:
  int count_ = -1;  // below 0: the numbers are too small to be written so
};

// Counts that are read together have one unit and the same number of decimals: "0.475 M" and "1.410 M".
class Counts {
 public:
  explicit Counts(const std::vector<double>& together);
  std::string operator()(double value) const;

 private:
  double size_ = 1.0;
  const char* unit_ = "";
  int decimals_ = 0;
};

// A p-value with four decimals: "0.0123"; "< 0.0001".
std::string p_text(double p);

// "12.3 %".
std::string percent(double share);

// "35.3 M", "81.2 k", "640"; up to T.
std::string short_count(double value);

// "131,072", "0.25".
std::string grouped(double value);

// "1.5 GiB", "640 KiB".
std::string bytes_text(double bytes);

// "410 ms", "2.31 s", "12 min", "3.4 h".
std::string seconds_text(double seconds);

// "59s", "3m20s", "2h05m".
std::string duration_text(double seconds);

// "1 run", "5 runs".
std::string count_text(size_t count, const std::string& of_what);

}  // namespace eggroll

#endif
