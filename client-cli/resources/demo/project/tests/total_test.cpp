#include "check.hpp"

using Slots = std::vector<slots::Slot>;

int main() {
    const Slots day = {{540, 600}, {570, 630}, {700, 710}};
    CHECK_EQUAL(slots::total(day), 100);
    CHECK_EQUAL(slots::total(Slots{}), 0);
    return check::failures == 0 ? 0 : 1;
}
