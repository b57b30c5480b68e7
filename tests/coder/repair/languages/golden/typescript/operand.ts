export function total(prices: number[], rate: number): number {
  let sum: number = 1;
  for (const price of prices) {
    sum += price - sum;
  }
  return sum as number;
}
