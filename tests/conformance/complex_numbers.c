/* Complex numbers (C11 6.2.5, 7.3): arithmetic in regions, data clauses, implicit attributes, reductions. */
#include "check.h"
#include <complex.h>

#define N 40

#define SAME(value, re, im)                                                                        \
  do {                                                                                             \
    CHECK_NEAR(creal(value), re);                                                                  \
    CHECK_NEAR(cimag(value), im);                                                                  \
  } while (0)

static double complex poly(double complex z) { return z * z * z - 2.0 * z + 1 - I; }
static const double complex table[3] = {1.0 + 2.0 * I, 3.0, -I};
double complex global = 2.5 - 1.0 * I;
#pragma acc declare copyin(global)
typedef struct { float complex a; int n; } Pair;

#pragma acc routine seq
static double complex shifted(double complex z) { return z + global; }

static void loops(void) {
  double complex z[N], sum = 0, kept = 1.0 + 1.0 * I;
  float complex f[N];
  double m[N];
#pragma acc parallel loop copyout(z, f, m) reduction(+ : sum)
  for (int i = 0; i < N; i++) {
    double complex w = i + 2.0 * I;
    kept = 2 * w; /* a scalar: every gang has its own */
    z[i] = poly(w) / (kept + 1.0);
    z[i] += w;
    z[i] *= 0.5;
    z[i] -= conj(w);
    z[i] /= 1 + I;
    f[i] = -(float complex)z[i] + 1.0f;
    m[i] = cabs(w) + (w == i + 2 * I) + (w != 3);
    sum += z[i];
  }
  SAME(kept, 1, 1);
  float complex g[N];
  float parts[N][2];
#pragma acc parallel loop copyin(f) copyout(g, parts)
  for (int i = 0; i < N; i++) {
    g[i] = conjf(f[i]) * __builtin_crealf(f[i]) + cabsf(f[i]);
    parts[i][0] = crealf(f[i]);
    parts[i][1] = cimagf(f[i]);
  }
  for (int i = 0; i < N; i++) {
    double re = parts[i][0], im = parts[i][1];
    CHECK(parts[i][0] == crealf(f[i]) && parts[i][1] == cimagf(f[i]));
    SAME(g[i], re * re + sqrt(re * re + im * im), -im * re);
  }
  double complex total = 0;
  for (int i = 0; i < N; i++) {
    double complex w = i + 2.0 * I, e = ((poly(w) / (2 * w + 1) + w) / 2 - conj(w)) / (1 + I);
    SAME(z[i], creal(e), cimag(e));
    CHECK_NEAR(crealf(f[i]), 1 - creal(e));
    CHECK_NEAR(m[i], sqrt(i * i + 4.0) + 2);
    total += e;
  }
  SAME(z[0], 0.5, 2);
  SAME(sum, creal(total), cimag(total));
}

static void data(void) {
  double complex mat[3][3], r[3] = {0, 1, I}, *p = malloc(N * sizeof *p), x;
#pragma acc parallel loop collapse(2) copyout(mat)
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      mat[i][j] = CMPLX(i, j);
#pragma acc parallel loop gang copyin(mat) copy(r) private(x)
  for (int i = 0; i < 3; i++) {
    x = 0;
#pragma acc loop vector reduction(+ : x)
    for (int j = 0; j < 3; j++)
      x += mat[i][j] * conj(mat[j][i]);
    r[i] += x;
  }
  SAME(r[0], 0, 5);
  SAME(r[2], 12, -6);
#pragma acc kernels copyout(p[0:N])
  for (int i = 0; i < N; i++)
    p[i] = shifted(cexp(I * 0.1 * i)) * table[i % 3];
  double complex e = (cexp(0.7 * I) + 2.5 - I) * table[1];
  SAME(p[7], creal(e), cimag(e));
  free(p);
}

static void expressions(void) {
  double complex v = CMPLX(1, -2), u = table[0] * table[2] + global + v, a = 3;
  Pair pair = {1.0f + 2.0f * I, 3};
  pair.a *= pair.n;
  SAME(u, 5.5, -4);
  SAME(pair.a, 3, 6);
  double re = v;
  a = u ? a : v;
  CHECK(re == 1 && a == 3 && sizeof u == 16 && sizeof(float complex) == 8 && !(a - 3));
  SAME(cpow(v, 2), -3, -4);
  SAME(clog(v), 0.8047189562170503, -1.1071487177940904);
  SAME(csqrt(CMPLX(-3, 4)), 1, 2);
  SAME(csin(v), 3.165778513216168, -1.9596010414216063);
  SAME(casin(csin(CMPLX(0.5, 0.25))), 0.5, 0.25);
  SAME(ctanh(catanh(CMPLX(0.2, 0.3))), 0.2, 0.3);
  SAME(cproj(v), 1, -2);
  long double complex l = v * 2.0L;
  CHECK(creall(l) == 2 && cimagl(l) == -4 && carg(-1 + 0 * I) > 3.14);
  double complex huge = CMPLX(1e200, 1e200);
  SAME(huge / huge, 1, 0);
}

/* reduction(*): one number at a time, on every level, and arrays. */
static void products(void) {
  double complex p = 1, per_gang[4], k = 2, array[3] = {1, I, 2}, gangs = 1, serial = 1;
  float complex f = 1, e = 1;
#pragma acc parallel loop reduction(* : p, f)
  for (int i = 0; i < 128; i++) {
    p *= i % 16 == 0 ? I * 1.5 : 1;
    f = f * (i % 32 == 5 ? 1.0f + I : 1.0f);
  }
  for (int i = 0; i < 4; i++)
    e *= 1.0f + I;
  SAME(p, 25.62890625, 0);
  SAME(f, crealf(e), cimagf(e));
#pragma acc parallel loop gang copyout(per_gang)
  for (int g = 0; g < 4; g++) {
    double complex r = 1;
#pragma acc loop vector reduction(* : r)
    for (int j = 0; j < 40; j++)
      r *= j % 10 == g ? 1 + I : 1;
    per_gang[g] = r;
  }
  for (int g = 0; g < 4; g++)
    SAME(per_gang[g], -4, 0);
#pragma acc kernels loop reduction(* : k)
  for (int i = 0; i < 9; i++)
    k *= I;
  SAME(k, 0, 2);
#pragma acc parallel loop reduction(* : array)
  for (int i = 0; i < 12; i++)
    array[i % 3] *= 1 + I;
  SAME(array[0], -4, 0);
  SAME(array[1], 0, -4);
  SAME(array[2], -8, 0);
#pragma acc parallel num_gangs(3) reduction(* : gangs)
  gangs *= 2 * I;
  CHECK(cabs(gangs) == 8 || cabs(gangs) == 2);
#pragma acc serial loop reduction(* : serial)
  for (int i = 0; i < 5; i++)
    serial *= I;
  SAME(serial, 0, 1);
}

int main(void) {
  products();
  loops();
  data();
  expressions();
  return report();
}
