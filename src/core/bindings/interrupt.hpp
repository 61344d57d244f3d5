// Ctrl-C while a solve runs without the interpreter's lock.
#pragma once
#include <functional>

namespace clearning {

// What a solve calls now and then: it throws KeyboardInterrupt once a signal has come, or interrupt() was called since.
std::function<void()> interrupt_check();

// Ends every solve under way. Signals reach the main thread only; this is how the others hear of them.
void interrupt();

}  // namespace clearning
