// Transcendental functions from IEEE double +, -, *, / and sqrt alone, so that schedules and tables have the same bits
// on every machine whatever its C library. Compile with -ffp-contract=off (eggroll_add_plugin does).
#ifndef EGGROLL_REPRODUCIBLE_MATH_H
#define EGGROLL_REPRODUCIBLE_MATH_H

#include <cmath>
#include <cstdint>

namespace eggroll {

// Natural logarithm of x > 0: relative error below 1e-15. ln x = e ln 2 + 2 atanh((m - 1) / (m + 1)).
inline double reproducible_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // exact, m in [0.5, 1)
  if (m < 0.70710678118654752) {
    m *= 2.0;
    --exponent;
  }
  const double z = (m - 1.0) / (m + 1.0);
  const double zz = z * z;
  double sum = 0.0;
  for (int k = 25; k >= 1; k -= 2) sum = sum * zz + 1.0 / k;
  return exponent * 0.69314718055994530942 + 2.0 * z * sum;
}

// cos(pi x) for x in [0, 1]: absolute error below 2e-16, and exact at 0, 1/2 and 1. Taylor series within pi/4 of a
// multiple of pi/2; the differences from it are exact.
inline double reproducible_cos_pi(double x) {
  if (x > 0.5) return 0.0 - reproducible_cos_pi(1.0 - x);
  const bool is_sine = x > 0.25;  // cos(pi x) = sin(pi (1/2 - x))
  const double angle = (is_sine ? 0.5 - x : x) * 3.14159265358979323846;
  const double square = angle * angle;
  double sum = 1.0;
  for (int k = is_sine ? 17 : 16; k >= 2; k -= 2) sum = 1.0 - sum * square / (k * (k - 1));
  return is_sine ? angle * sum : sum;
}

// x to the n for x in [0, 1], by squaring: relative error below n * 1.2e-16 where the result is no denormal.
inline double reproducible_power(double x, uint64_t n) {
  double power = 1.0;
  for (double square = x; n > 0; n >>= 1, square *= square) {
    if ((n & 1) != 0) power *= square;
  }
  return power;
}

// e to the x for |x| <= 700: relative error below 4e-16. Taylor series around the nearest multiple of ln 2, whose upper
// part times that multiple is exact.
inline double reproducible_exp(double x) {
  const double multiple = std::floor(x * 1.44269504088896340736 + 0.5);
  const double rest = (x - multiple * 6.93147180369123816490e-01) - multiple * 1.90821492927058770002e-10;
  double sum = 1.0;
  for (int k = 15; k >= 1; --k) sum = 1.0 + sum * rest / k;
  return std::ldexp(sum, static_cast<int>(multiple));
}

// Error function: relative error below 1e-14, and +-1 from |x| = 6 on. erf x = 2 / sqrt(pi) x e^(-x^2) times the sum of
// (2 x^2)^k / (1 3 5 ... (2k + 1)), whose terms are all positive.
inline double reproducible_erf(double x) {
  if (std::fabs(x) >= 6.0) return x < 0.0 ? -1.0 : 1.0;
  const double square = x * x;
  double sum = 1.0;
  for (int k = 160; k >= 1; --k) sum = 1.0 + sum * (2.0 * square) / (2 * k + 1);
  return 1.12837916709551257390 * x * reproducible_exp(-square) * sum;
}

// cos(pi x) for x >= 0.
inline double reproducible_cos_half_turns(double x) {
  const double whole = std::floor(x);
  const double cosine = reproducible_cos_pi(x - whole);
  return std::fmod(whole, 2.0) == 0.0 ? cosine : 0.0 - cosine;
}

// Cosine and sine of an angle x in [0, 2^20]: absolute error below (1 + x) * 4e-16.
inline double reproducible_cos(double x) { return reproducible_cos_half_turns(x / 3.14159265358979323846); }
inline double reproducible_sin(double x) {
  const double half_turns = x / 3.14159265358979323846;
  return half_turns < 0.5 ? reproducible_cos_pi(0.5 - half_turns) : reproducible_cos_half_turns(half_turns - 0.5);
}

// A polynomial of degree 7, its coefficients from the highest power down.
inline double reproducible_polynomial(const double (&coefficients)[8], double x) {
  double sum = 0.0;
  for (const double coefficient : coefficients) sum = sum * x + coefficient;
  return sum;
}

// Quantile of the standard normal distribution for p in (0, 1): Wichura, Algorithm AS 241 (PPND16), Applied Statistics
// 37 (1988). Relative error below 1e-15.
inline double reproducible_normal_quantile(double p) {
  // In each range the result is a quotient of two polynomials.
  constexpr double kMiddle[2][8] = {
      {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
       13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608},
      {5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867, 5394.1960214247511077,
       687.1870074920579083, 42.313330701600911252, 1.0}};
  constexpr double kTail[2][8] = {
      {7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
       3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734},
      {1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
       0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0}};
  constexpr double kFarTail[2][8] = {
      {2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
       0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772},
      {2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
       0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0}};
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * reproducible_polynomial(kMiddle[0], r) / reproducible_polynomial(kMiddle[1], r);
  }
  const double root = std::sqrt(-reproducible_log(q < 0.0 ? p : 1.0 - p));
  const bool is_far = root > 5.0;
  const double r = root - (is_far ? 5.0 : 1.6);
  const auto& tail = is_far ? kFarTail : kTail;
  const double value = reproducible_polynomial(tail[0], r) / reproducible_polynomial(tail[1], r);
  return q < 0.0 ? -value : value;
}

}  // namespace eggroll

#endif
