#include "slots/slots.hpp"

namespace slots {

std::vector<Slot> gaps(const std::vector<Slot>& slots) {
    const std::vector<Slot> merged = merge(slots);
    std::vector<Slot> free;
    for (std::size_t i = 1; i < merged.size(); ++i) {
        if (merged[i - 1].end < merged[i].begin) {
            free.push_back({merged[i - 1].end, merged[i].begin});
        }
    }
    return free;
}

}  // namespace slots
