#include "misuse/throwing.h"

#include <stdexcept>

void throw_something(void) {
  throw std::runtime_error("thrown by a test");
}

void catching_run(void (*run)(void)) {
  try {
    run();
  } catch (...) {
  }
}
