/* Conversions, promotions, shifts, division, comparisons, compound assignment and increments. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static int calls = 0;
static int tick(int v) { calls++; return v; }
static int *slot(int *a) { calls++; return a + 1; }

static int order(unsigned x, unsigned y) {
  return (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3;
}

int main(void) {
  printf("%d %d %d\n", order(1, 4000000000u), order(4000000000u, 1), order(3000000000u, 3000000000u));
  signed char sc = -3;
  unsigned char uc = 250;
  short sh = -30000;
  unsigned short us = 65535;
  unsigned u = 4000000000u;
  long long ll = -1;
  unsigned long long ull = ll;
  float f = 1.5f;
  double d = -2.75;
  long double ld = 1.25L;
  bool b = 5, b2 = 0.0, b3 = d;
  printf("%d %d %d %d %u %lld %llu\n", sc, uc, sh, us, u, ll, ull);
  printf("%d %d %d\n", b, b2, b3);
  uc += 10; sc--; us++; sh -= 3000;
  printf("%d %d %d %d\n", uc, sc, us, sh);
  printf("%d %d\n", sc < uc, -1 < 1u);
  printf("%d %d %d %d\n", -7 / 2, -7 % 2, -7 >> 1, (unsigned)-7 >> 28);
  printf("%f %f %d %d\n", f * d, f / 3, (int)d, (int)(f + 0.6));
  printf("%.3Lf %.3Lf\n", ld * 3, ld + u);
  printf("%u %u %llu\n", (unsigned)3.99e9, (unsigned char)300, (unsigned long long)1.8e19);
  int a[4] = {1, 2, 3, 4};
  *slot(a) += 10;
  (*slot(a))++;
  ++*slot(a);
  printf("%d %d\n", a[1], calls);
  int i = 0;
  a[i++] = 7;
  a[i++] += tick(5);
  printf("%d %d %d %d\n", a[0], a[1], i, calls);
  int x = 5, y = (x = 3, x + 1);
  x <<= y; x ^= 0xff; x |= 1 << 12; x &= ~3; x %= 1000; x >>= 1;
  printf("%d %d\n", x, y);
  f += 1; f *= d; d /= f; i -= 2.9;
  printf("%f %f %d\n", f, d, i);
  int *p = a, *q = &a[3];
  printf("%ld %d %d %d\n", (long)(q - p), p < q, p == q, !p);
  p += 2; p--; q -= 1;
  printf("%d %d ", *p, *q);
  printf("%d ", *p++);
  printf("%d\n", *++p);
  printf("%d ", tick(0) && tick(1));
  printf("%d ", tick(1) || tick(0));
  printf("%d\n", calls);
  printf("%d ", a[0] ? tick(4) : tick(5));
  printf("%d\n", calls);
  int n = 3, z = n > 2 ? n : -n;
  int w = (n && (z = 9)) || (z = 11);
  printf("%d %d %d\n", z, w, !n);
  printf("%d %u\n", ~n, -u);
  bool t = true; t++; t--; printf("%d\n", t);
  char c = 'a' + 200; printf("%d\n", c);
  printf("%d %d\n", (int)sizeof(ld), (int)sizeof(struct { char c; double d; }));
  uint8_t m = 200, o = 100; printf("%d %d\n", m + o, (uint8_t)(m + o));
  int64_t big = INT64_C(1) << 40; printf("%lld\n", (long long)(big >> 3));
  double nan = 0.0 / 0.0 * n; printf("%d %d %d\n", nan == nan, nan != nan, nan < 1);
  return 0;
}
