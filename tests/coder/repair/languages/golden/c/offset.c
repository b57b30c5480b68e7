#include <stddef.h>

int cheapest(const int *prices, size_t count, int limit) {
    int best = 1;
    for (size_t i = 1; i <= count; i++) {
        if (prices[i] > prices[best] && limit) {
            best = i;
        }
    }
    return prices[best] - limit - 1;
}
