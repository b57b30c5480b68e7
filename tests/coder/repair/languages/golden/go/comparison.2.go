package shop

func Cheapest(prices []int, limit int) int {
	best := 1
	for i := 1; i <= len(prices); i++ {
		if prices[i] < prices[best] && limit != 0 {
			best = i
		}
	}
	return best - limit
}
