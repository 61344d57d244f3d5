// exp and log1p written so that a loop over them vectorises. Inlined always: a copy of its own, compiled for wide
// registers, could be linked where narrow ones are needed.
#pragma once
#include <bit>
#include <cstdint>

#define CLEARNING_INLINE [[gnu::always_inline]] inline

namespace clearning {

// exp(x) for x <= 0, within 1 ulp or two.
CLEARNING_INLINE double exp_nonpositive(double x) {
  constexpr double shifter = 0x1.8p52;
  x = x < -708.0 ? -708.0 : x;
  const double shifted = x * 0x1.71547652b82fep0 + shifter;
  const double k = shifted - shifter;
  const double r = (x - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45;
  double q = 1.0 / 6227020800.0;
  q = q * r + 1.0 / 479001600.0;
  q = q * r + 1.0 / 39916800.0;
  q = q * r + 1.0 / 3628800.0;
  q = q * r + 1.0 / 362880.0;
  q = q * r + 1.0 / 40320.0;
  q = q * r + 1.0 / 5040.0;
  q = q * r + 1.0 / 720.0;
  q = q * r + 1.0 / 120.0;
  q = q * r + 1.0 / 24.0;
  q = q * r + 1.0 / 6.0;
  q = q * r + 0.5;
  q = q * r + 1.0;
  q = q * r + 1.0;
  return std::bit_cast<double>(std::bit_cast<std::int64_t>(q) + (std::bit_cast<std::int64_t>(shifted) << 52));
}

// 2 atanh(z) for |z| <= 1/3, as an odd series.
CLEARNING_INLINE double twice_atanh(double z) {
  const double z2 = z * z;
  double q = 1.0 / 33.0;
  q = q * z2 + 1.0 / 31.0;
  q = q * z2 + 1.0 / 29.0;
  q = q * z2 + 1.0 / 27.0;
  q = q * z2 + 1.0 / 25.0;
  q = q * z2 + 1.0 / 23.0;
  q = q * z2 + 1.0 / 21.0;
  q = q * z2 + 1.0 / 19.0;
  q = q * z2 + 1.0 / 17.0;
  q = q * z2 + 1.0 / 15.0;
  q = q * z2 + 1.0 / 13.0;
  q = q * z2 + 1.0 / 11.0;
  q = q * z2 + 1.0 / 9.0;
  q = q * z2 + 1.0 / 7.0;
  q = q * z2 + 1.0 / 5.0;
  q = q * z2 + 1.0 / 3.0;
  return 2.0 * z * (1.0 + z2 * q);
}

CLEARNING_INLINE double log1p_unit(double x) { return twice_atanh(x / (2.0 + x)); }  // 0 <= x <= 1

}  // namespace clearning
