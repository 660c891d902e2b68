#include "slots/slots.hpp"

#include <algorithm>

namespace slots {

std::vector<Slot> merge(std::vector<Slot> slots) {
    std::sort(slots.begin(), slots.end(),
              [](const Slot& a, const Slot& b) { return a.begin < b.begin; });
    std::vector<Slot> merged;
    for (const Slot& slot : slots) {
        if (!merged.empty() && slot.begin < merged.back().end) {
            merged.back().end = std::max(merged.back().end, slot.end);
        } else {
            merged.push_back(slot);
        }
    }
    return merged;
}

}  // namespace slots
