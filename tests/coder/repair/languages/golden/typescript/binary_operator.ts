export function total(prices: number[], rate: number): number {
  let sum: number = 1;
  for (const price of prices) {
    sum += price * rate;
  }
  return sum as number;
}
