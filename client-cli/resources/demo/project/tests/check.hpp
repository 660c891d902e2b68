#pragma once

#include <cstdio>

#include "slots/slots.hpp"

namespace check {

inline int failures = 0;

inline void print(const std::vector<slots::Slot>& slots) {
    std::printf("{");
    for (const slots::Slot& slot : slots) {
        std::printf(" %d-%d", slot.begin, slot.end);
    }
    std::printf(" }");
}

inline void equal(const char* file, int line, const char* what, const std::vector<slots::Slot>& found,
                  const std::vector<slots::Slot>& expected) {
    if (found == expected) {
        return;
    }
    ++failures;
    std::printf("%s:%d: %s is ", file, line, what);
    print(found);
    std::printf(", expected ");
    print(expected);
    std::printf("\n");
}

inline void equal(const char* file, int line, const char* what, int found, int expected) {
    if (found != expected) {
        ++failures;
        std::printf("%s:%d: %s is %d, expected %d\n", file, line, what, found, expected);
    }
}

}  // namespace check

#define CHECK_EQUAL(found, ...) check::equal(__FILE__, __LINE__, #found, found, __VA_ARGS__)
