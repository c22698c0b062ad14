/* long double, which GPUs do not have: in regions, private, reduced. */
#include "../check.h"

int main(void) {
  long double sum = 0.5L, most = -1, values[8], product = 1;
  struct { long double x; int n; } pair = {1, 1};
#pragma acc parallel loop reduction(+ : sum) reduction(max : most) reduction(* : product)
  for (int i = 0; i < 100; i++) {
    sum += i * 0.5L;
    most = most > i / 3.0L ? most : i / 3.0L;
    product *= i % 10 ? 1 : 1.5L;
  }
  CHECK(sum == 2475.5L && most == 33 && fabsl(product - 57.6650390625L) < 1e-15L);
#pragma acc parallel loop copyout(values)
  for (int i = 0; i < 8; i++)
    values[i] = sqrtl(i) * 2;
  CHECK(values[4] == 4);
#pragma acc parallel loop reduction(+ : pair)
  for (int i = 0; i < 10; i++) {
    pair.x += 0.25L;
    pair.n++;
  }
  CHECK(pair.x == 3.5L && pair.n == 11);
  return report();
}
