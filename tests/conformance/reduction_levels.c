/* Reductions with every operator, at each level and in each construct, on several types. */
#include "check.h"
#define N 96
#define G 6
#define P(t) _Pragma(#t)

/* Per gang: one level inside a loop over gangs. */
#define INSIDE(T, OP, INIT, SIZES, OUTER, INNER)                                                   \
  P(acc parallel loop OUTER copyin(in) copyout(out) SIZES)                                         \
  for (i = 0; i < G; i++) {                                                                        \
    T r = INIT;                                                                                    \
    P(acc loop INNER reduction(OP : r))                                                            \
    for (j = 0; j < N; j++)                                                                        \
      r = r OP in[i][j];                                                                           \
    out[i] = r;                                                                                    \
  }                                                                                                \
  for (i = 0; i < G; i++)                                                                          \
  CHECK_NEAR(out[i], want[i])

/* One result: the loop itself on some levels. */
#define WHOLE(T, OP, INIT, DIRECTIVE)                                                              \
  {                                                                                                \
    T r = INIT;                                                                                    \
    P(acc DIRECTIVE reduction(OP : r) copyin(in))                                                  \
    for (j = 0; j < N; j++)                                                                        \
      r = r OP in[0][j];                                                                           \
    CHECK_NEAR(r, want[0]);                                                                        \
  }

#define LEVELS(NAME, T, OP, INIT, EXPR)                                                            \
  static void NAME(void) {                                                                         \
    T in[G][N], out[G], want[G];                                                                   \
    int i, j;                                                                                      \
    for (i = 0; i < G; i++) {                                                                      \
      want[i] = INIT;                                                                              \
      for (j = 0; j < N; j++) {                                                                    \
        int n = i * 7 + j * 3;                                                                     \
        in[i][j] = (T)(EXPR);                                                                      \
        want[i] = want[i] OP in[i][j];                                                             \
      }                                                                                            \
    }                                                                                              \
    INSIDE(T, OP, INIT, , gang, worker);                                                           \
    INSIDE(T, OP, INIT, , gang, vector);                                                           \
    INSIDE(T, OP, INIT, num_workers(3) vector_length(32), gang, worker vector);                    \
    INSIDE(T, OP, INIT, num_workers(4) vector_length(32), gang worker, vector);                    \
    INSIDE(T, OP, INIT, , gang, seq);                                                              \
    WHOLE(T, OP, INIT, parallel loop gang)                                                         \
    WHOLE(T, OP, INIT, parallel loop worker num_gangs(1))                                          \
    WHOLE(T, OP, INIT, parallel loop gang vector num_gangs(4) vector_length(64))                   \
    WHOLE(T, OP, INIT, parallel loop gang worker vector)                                           \
    WHOLE(T, OP, INIT, kernels loop)                                                               \
    WHOLE(T, OP, INIT, serial loop)                                                                \
  }

#define INTEGER(T, S)                                                                              \
  LEVELS(land_##S, T, &&, 1, n != 17)                                                              \
  LEVELS(lor_##S, T, ||, 0, n > 200)                                                               \
  LEVELS(add_##S, T, +, 3, n % 2)                                                                  \
  LEVELS(mul_##S, T, *, 1, (n % 31 == 0) + 1)                                                      \
  LEVELS(and_##S, T, &, 127, n | 64)                                                               \
  LEVELS(or_##S, T, |, 1, n & 4)                                                                   \
  LEVELS(xor_##S, T, ^, 2, n & 63)
#define FLOATING(T, S)                                                                             \
  LEVELS(add_##S, T, +, 3, n * 0.5)                                                                \
  LEVELS(mul_##S, T, *, 1, (n % 31 == 0) * 0.5 + 1)

INTEGER(short, short)
FLOATING(float, float)
LEVELS(add_long, long long, +, 3, n)
LEVELS(add_double, double, +, 3, n * 0.5)

int main(void) {
  land_short(), lor_short(), add_short(), mul_short(), and_short(), or_short(), xor_short();
  add_float(), mul_float();
  add_long();
  add_double();
  return report();
}
