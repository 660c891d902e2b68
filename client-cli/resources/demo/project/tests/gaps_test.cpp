#include "check.hpp"

using Slots = std::vector<slots::Slot>;

int main() {
    const Slots day = {{540, 600}, {660, 720}, {600, 630}};
    CHECK_EQUAL(slots::gaps(day), Slots{{630, 660}});
    CHECK_EQUAL(slots::gaps(Slots{}), Slots{});
    return check::failures == 0 ? 0 : 1;
}
