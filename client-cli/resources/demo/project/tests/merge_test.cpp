#include "check.hpp"

using Slots = std::vector<slots::Slot>;

int main() {
    const Slots overlapping = {{540, 600}, {570, 630}};
    CHECK_EQUAL(slots::merge(overlapping), Slots{{540, 630}});

    const Slots apart = {{700, 720}, {540, 600}};
    CHECK_EQUAL(slots::merge(apart), Slots{{540, 600}, {700, 720}});

    const Slots touching = {{540, 600}, {600, 660}};
    CHECK_EQUAL(slots::merge(touching), Slots{{540, 660}});

    return check::failures == 0 ? 0 : 1;
}
