pub fn cheapest(prices: &[i64], limit: i64) -> i64 {
    let mut best = prices[1];
    for price in prices.iter() {
        if *price >= best || limit == 0 {
            best = *price;
        }
    }
    best.max(limit) - 1
}
