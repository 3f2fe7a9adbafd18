// Exponentials, logarithms and powers that have the same bits on every CPU.
//
// The C library and NumPy choose an implementation by the instructions of the CPU, and their last bits differ. Here are
// only IEEE additions, multiplications and divisions in a fixed order, compiled without contraction to fused ones
// (CMakeLists.txt). Errors are below 2 units in the last place, as tests/core/test_elementary.py checks.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace elementary {

/// An unevaluated sum, `low` below the last bit of `high`.
struct Pair {
  double high;
  double low;
};

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double NONE     = std::numeric_limits<double>::quiet_NaN();
// Below it, x is the rounded value of expm1(x) and log1p(x).
constexpr double TINY = 0x1p-54;
// ln 2, the first part with so few bits that its products with exponents are exact.
constexpr double LN2_HIGH = 0x1.62e42fefp-1;
constexpr double LN2_LOW  = 0x1.473de6af278edp-34;
constexpr double LOG2_E   = 0x1.71547652b82fep+0;

inline std::uint64_t bits_of(double x)
{
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

/// 2^k for k from -1022 to 1023.
inline double power_of_2(int k)
{
  std::uint64_t const bits = static_cast<std::uint64_t>(k + 1023) << 52;
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// x 2^k, rounded once where it is subnormal; |k| up to 2044.
inline double scaled(double x, int k)
{
  return x * power_of_2(k / 2) * power_of_2(k - k / 2);
}

/// The exact product (Dekker), if no part of it overflows or underflows.
inline Pair product(double a, double b)
{
  constexpr double split = 0x1p27 + 1;
  double const a_high = split * a - (split * a - a), a_low = a - a_high;
  double const b_high = split * b - (split * b - b), b_low = b - b_high;
  double const high = a * b;
  return {high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

/// k ln 2 + ln(1 + f) for f from sqrt(1/2) - 1 to sqrt(2) - 1, to 2^-58, relative: 2 artanh(f / (2 + f)).
inline Pair logarithm(double f, int k)
{
  double const divisor = 2 + f, lost = f - (divisor - 2);
  double const s    = f / divisor;
  Pair const back   = product(s, divisor);
  double const rest = ((f - back.high) - back.low - s * lost) / divisor;
  double const z    = s * s;
  double series     = 0;
  for (int i = 25; i >= 3; i -= 2)
    series = z * (2.0 / i + series);
  double const tail  = 2 * rest * (1 + z) + s * series;
  double const whole = k * LN2_HIGH;
  double const sum   = whole + 2 * s;
  double const low   = (k ? 2 * s - (sum - whole) : 0.0) + (tail + k * LN2_LOW);
  double const high  = sum + low;
  return {high, low - (high - sum)};
}

/// (1 + fraction) 2^exponent.
struct Split {
  double fraction;
  int exponent;
};

/// A positive, finite number, its fraction from sqrt(1/2) - 1 to sqrt(2) - 1.
inline Split split(double x)
{
  int k = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    k = -54;
  }
  int const exponent = static_cast<int>(bits_of(x) >> 52) - 1023;
  double fraction    = x * power_of_2(-exponent / 2) * power_of_2(-exponent - -exponent / 2);
  k += exponent;
  if (fraction > 0x1.6a09e667f3bcdp0) {
    fraction /= 2;
    k++;
  }
  return {fraction - 1, k};
}

/// ln x of a positive, finite number.
inline Pair logarithm(double x)
{
  Split const parts = split(x);
  return logarithm(parts.fraction, parts.exponent);
}

/// (1 + high + low) 2^exponent, the numbers from -0.3 to 0.42 and `low` the smaller.
struct Exponential {
  double high;
  double low;
  int exponent;
};

/// e^(x + low) for |x| up to 1000 and a low far smaller.
inline Exponential exponential(double x, double low)
{
  double const k = std::floor(x * LOG2_E + 0.5);
  double const r = x - k * LN2_HIGH;
  low -= k * LN2_LOW;
  double const sum = r + low;
  double series = 0, factorial = 87178291200; // 14!
  for (int i = 14; i >= 3; i--) {
    series = sum * series + 1 / factorial;
    factorial /= i;
  }
  return {sum, sum * sum * (0.5 + sum * series) + (low - (sum - r)), static_cast<int>(k)};
}

/// a + (b + low), rounded once, for |a| >= |b|.
inline double added(double a, double b, double low)
{
  double const sum = a + b;
  return sum + (b - (sum - a) + low);
}

inline double exp(double x, double low = 0)
{
  if (!(std::fabs(x) <= 1000))
    return x > 0 ? INFINITE : x < 0 ? 0.0 : x;
  Exponential const found = exponential(x, low);
  return scaled(added(1, found.high, found.low), found.exponent);
}

inline double expm1(double x)
{
  if (std::fabs(x) < TINY || std::isnan(x))
    return x;
  if (std::fabs(x) > 40)
    return x > 0 ? exp(x) : -1.0;
  Exponential const found = exponential(x, 0);
  double const power      = power_of_2(found.exponent);
  double const high = power * found.high, low = power * found.low;
  return found.exponent ? added(power - 1, high, low) : high + low;
}

inline double log(double x)
{
  if (!(x > 0 && x < INFINITE))
    return x == 0 ? -INFINITE : x > 0 ? x : NONE;
  return logarithm(x).high;
}

inline double log2(double x)
{
  if (!(x > 0 && x < INFINITE))
    return log(x);
  Split const parts = split(x);
  return parts.exponent + logarithm(parts.fraction, 0).high * LOG2_E;
}

inline double log1p(double x)
{
  if (std::fabs(x) < TINY || x == INFINITE)
    return x;
  if (!(x > -1))
    return x == -1 ? -INFINITE : NONE;
  if (x > -0.29 && x < 0.41)
    return logarithm(x, 0).high;
  double const sum  = 1 + x;
  double const lost = std::fabs(x) < 1 ? x - (sum - 1) : 1 - (sum - x);
  Pair const found  = logarithm(sum);
  return found.high + (found.low + lost / sum);
}

/// x^y with the special cases of C's pow.
inline double power(double x, double y)
{
  if (y == 0 || x == 1)
    return 1;
  if (std::isnan(x) || std::isnan(y))
    return NONE;
  double const size = std::fabs(x);
  bool const whole  = std::floor(y) == y;
  if (x < 0 && !whole && size < INFINITE)
    return NONE;
  double const sign = std::signbit(x) && whole && std::floor(y / 2) != y / 2 ? -1 : 1;
  if (size == 1)
    return sign;
  if (size == 0 || size == INFINITE || std::isinf(y))
    return sign * ((size > 1) == (y > 0) ? INFINITE : 0.0);
  Pair const found = logarithm(size);
  if (std::fabs(found.high * y) > 1000)
    return sign * (found.high * y > 0 ? INFINITE : 0.0);
  Pair const exponent = product(found.high, y);
  return sign * exp(exponent.high, exponent.low + found.low * y);
}

} // namespace elementary
