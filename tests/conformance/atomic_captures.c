/* Every form of atomic capture: the values taken are all different, and none is lost. */
#include "check.h"
#define N 40
#define P(t) _Pragma(#t)

/* `v` holds from, from + step, from + 2 * step, … in some order. */
static void all_of(const double *v, int from, int step) {
  char seen[4 * N] = {0};
  for (int i = 0; i < N; i++) {
    int k = (int)v[i];
    CHECK(k >= 0 && k < 4 * N);
    if (k >= 0 && k < 4 * N)
      seen[k]++;
  }
  for (int i = 0; i < N; i++)
    CHECK_EQ(seen[from + i * step], 1);
}

#define CAPTURE(T, start, statement, end, from, step)                                              \
  do {                                                                                             \
    T x = start, v[N];                                                                             \
    double taken[N];                                                                               \
    P(acc parallel loop copy(x) copyout(v))                                                        \
    for (int i = 0; i < N; i++) {                                                                  \
      P(acc atomic capture)                                                                        \
      statement                                                                                    \
    }                                                                                              \
    CHECK(x == end);                                                                               \
    for (int i = 0; i < N; i++)                                                                    \
      taken[i] = v[i];                                                                             \
    all_of(taken, from, step);                                                                     \
  } while (0)

/* `count` updates of one variable whose order does not matter for the result. */
#define FEW(T, start, count, statement, end)                                                       \
  do {                                                                                             \
    T x = start, v[N];                                                                             \
    P(acc parallel loop copy(x) copyout(v))                                                        \
    for (int i = 0; i < count; i++) {                                                              \
      P(acc atomic capture)                                                                        \
      statement                                                                                    \
    }                                                                                              \
    CHECK(x == end);                                                                               \
  } while (0)

#define ARITHMETIC(T)                                                                              \
  CAPTURE(T, 0, v[i] = x++;, N, 0, 1);                                                             \
  CAPTURE(T, 0, v[i] = ++x;, N, 1, 1);                                                             \
  CAPTURE(T, N, v[i] = x--;, 0, 1, 1);                                                             \
  CAPTURE(T, N, v[i] = --x;, 0, 0, 1);                                                             \
  CAPTURE(T, 0, v[i] = x += 2;, 2 * N, 2, 2);                                                      \
  CAPTURE(T, 2 * N, v[i] = x -= 2;, 0, 0, 2);                                                      \
  CAPTURE(T, 0, v[i] = x = x + 1;, N, 1, 1);                                                       \
  CAPTURE(T, 0, v[i] = x = 1 + x;, N, 1, 1);                                                       \
  CAPTURE(T, 0, { v[i] = x; x++; }, N, 0, 1);                                                      \
  CAPTURE(T, 0, { v[i] = x; ++x; }, N, 0, 1);                                                      \
  CAPTURE(T, 0, { x++; v[i] = x; }, N, 1, 1);                                                      \
  CAPTURE(T, 0, { ++x; v[i] = x; }, N, 1, 1);                                                      \
  CAPTURE(T, N, { x--; v[i] = x; }, 0, 0, 1);                                                      \
  CAPTURE(T, N, { v[i] = x; --x; }, 0, 1, 1);                                                      \
  CAPTURE(T, 0, { v[i] = x; x = x + 1; }, N, 0, 1);                                                \
  CAPTURE(T, 0, { v[i] = x; x = 1 + x; }, N, 0, 1);                                                \
  CAPTURE(T, 0, { x = 1 + x; v[i] = x; }, N, 1, 1);                                                \
  CAPTURE(T, 0, { x += 1; v[i] = x; }, N, 1, 1);                                                   \
  CAPTURE(T, N, { x = x - 1; v[i] = x; }, 0, 0, 1);                                                \
  FEW(T, 1, 6, { x *= 2; v[i] = x; }, 64);                                                         \
  FEW(T, 64, 6, { v[i] = x; x /= 2; }, 1);                                                         \
  FEW(T, 64, 1, v[i] = x = 126 / x;, (T)126 / (T)64);                                              \
  FEW(T, 10, 1, { x = 30 - x; v[i] = x; }, 20);                                                    \
  FEW(T, 3, 2, { v[i] = x; x = 2 * x; }, 12);                                                      \
  FEW(T, 3, 1, { v[i] = x; x = (T)(i + 5); }, 5)

#define BITS(T)                                                                                    \
  FEW(T, 0, 7, { v[i] = x; x |= 1 << i; }, 127);                                                   \
  FEW(T, 127, 7, { x = x & ~(1 << i); v[i] = x; }, 0);                                             \
  FEW(T, 0, 7, v[i] = x ^= 1 << i;, 127);                                                          \
  FEW(T, 1, 5, v[i] = x = x << 1;, 32);                                                            \
  FEW(T, 64, 5, { v[i] = x; x >>= 1; }, 2);                                                        \
  FEW(T, 5, 1, { v[i] = x; x = 1 << x; }, 32);                                                     \
  FEW(T, 0, 7, v[i] = x = (1 << i) | x;, 127)

static void integers(void) { ARITHMETIC(int); }
static void wide(void) { ARITHMETIC(unsigned long); }
static void narrow(void) { ARITHMETIC(short); }
static void floats(void) { ARITHMETIC(float); }
static void bits(void) {
  BITS(int);
  BITS(unsigned long long);
  BITS(unsigned char);
}

int main(void) {
  integers();
  wide();
  narrow();
  floats();
  bits();
  return report();
}
