#include "slots/slots.hpp"

namespace slots {

int total(const std::vector<Slot>& slots) {
    int minutes = 0;
    for (const Slot& slot : merge(slots)) {
        minutes += slot.end - slot.begin;
    }
    return minutes;
}

}  // namespace slots
