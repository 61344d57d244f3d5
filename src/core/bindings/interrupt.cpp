#include "bindings/interrupt.hpp"

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <memory>

namespace clearning {

namespace nb = nanobind;

namespace {
std::atomic<unsigned> epoch{0};
constexpr auto between_looks = std::chrono::milliseconds(100);
}  // namespace

std::function<void()> interrupt_check() {
  const unsigned mine = epoch;
  auto last = std::make_shared<std::chrono::steady_clock::time_point>(std::chrono::steady_clock::now());
  return [last, mine] {
    if (epoch != mine) {
      nb::gil_scoped_acquire lock;
      PyErr_SetNone(PyExc_KeyboardInterrupt);
      throw nb::python_error();
    }
    const auto now = std::chrono::steady_clock::now();
    if (now - *last < between_looks) return;
    *last = now;
    nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  };
}

void interrupt() { ++epoch; }

}  // namespace clearning
