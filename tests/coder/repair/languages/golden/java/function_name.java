class Shop {
    static int cheapest(int[] prices, int limit) {
        int best = 1;
        for (int i = 1; i <= prices.length; i++) {
            if (prices[i] > best && limit != 0) {
                best = Math.min(prices[i], limit);
            }
        }
        return best - limit;
    }
}
