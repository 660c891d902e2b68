#pragma once

#include <vector>

namespace slots {

/// A range of minutes of a day: begin belongs to it, end does not.
struct Slot {
    int begin;
    int end;

    friend bool operator==(const Slot& a, const Slot& b) {
        return a.begin == b.begin && a.end == b.end;
    }
};

/// Joins slots that overlap or touch. The result is sorted.
std::vector<Slot> merge(std::vector<Slot> slots);

/// The free time between the slots of a day, without what lies before the first and after the last.
std::vector<Slot> gaps(const std::vector<Slot>& slots);

/// Minutes that are booked; a minute in two slots counts once.
int total(const std::vector<Slot>& slots);

}  // namespace slots
