/*
 * Loops over rows, in a parallel loop, beside other statements: calls, conditional values, stores that the loops
 * read or overwrite, values that they compute or
 * change; some of the loops are independent, some are not.
 */
#include <math.h>
#include <stdio.h>
#define N 13
#define M 101
static float a[N * M], b[N * M], r[N];
static int q[N * M], p[N];

static void set(void) {
  for (int k = 0; k < N * M; k++) {
    a[k] = k % 7;
    b[k] = k % 11;
    q[k] = k * 7919 % 101 - 50;
  }
  for (int i = 0; i < N; i++) {
    r[i] = i % 5 - 1;
    p[i] = i;
  }
}

static void show(const char *name, int m) {
  double sum = 0;
  for (int k = 0; k < N * M; k++)
    sum += a[k] * (k % 17 + 1) + b[k] * (k % 13);
  for (int k = 0; k < N; k++)
    sum += r[k] * (k + 1) * 31 + p[k] * (k + 3);
  printf("%s %d %.6f\n", name, m, sum);
}

#define ROWS _Pragma("acc parallel loop copy(a, b, r, q, p)") for (int i = 0; i < n; i++)
#define EACH for (int j = 0; j < m; j++)
#define SHARED _Pragma("acc loop") EACH
#define SHARED_FROM(k) _Pragma("acc loop") for (int j = k; j < m; j++)
#define PROGRAM(name, ...)                 \
  static void name(int n, int m) {         \
    set();                                 \
    ROWS { __VA_ARGS__ }                   \
    show(#name, m);                        \
  }
PROGRAM(call, float w = floorf(r[i]); EACH a[i*m+j] = w * b[i*m+j];)
PROGRAM(cond, float w = 0; if (r[i] > 1) w = r[i]; EACH a[i*m+j] = w * b[i*m+j];)
PROGRAM(store, r[i] = 5; EACH a[i*m+j] = 3 * b[i*m+j];)
PROGRAM(storeread, r[i] = r[i] + 5; EACH a[i*m+j] = r[i] * b[i*m+j];)
PROGRAM(after, EACH a[i*m+j] = 3 * b[i*m+j]; r[i] = a[i*m];)
PROGRAM(isum, int s = 0; EACH s += q[i*m+j]; p[i] = s;)
PROGRAM(imax, int s = -99; EACH s = q[i*m+j] > s ? q[i*m+j] : s; p[i] = s;)
PROGRAM(imaxif, int s = -99; EACH if (q[i*m+j] > s) s = q[i*m+j]; p[i] = s;)
PROGRAM(fmx, float s = -99; EACH s = fmaxf(b[i*m+j], s); r[i] = s;)
PROGRAM(fsum, float s = 0; EACH s += b[i*m+j]; r[i] = s;)
PROGRAM(count, int s = 0; EACH if (q[i*m+j] > 3) s++; p[i] = s;)
PROGRAM(any, int s = 0; EACH if (q[i*m+j] == 3) s = 1; p[i] = s;)
PROGRAM(xorr, int s = 7; EACH s ^= q[i*m+j]; p[i] = s;)
PROGRAM(first, int s = -1; EACH if (s < 0 && q[i*m+j] == 3) s = j; p[i] = s;)
PROGRAM(two, EACH a[i*m+j] = 3 * b[i*m+j]; EACH b[i*m+j] = a[i*m+j] + 1;)
PROGRAM(shift, EACH a[i*m+j] = 3 * b[i*m+j]; EACH b[i*m+j] = a[i*m+m-1-j] + 1;)
PROGRAM(norm, int s = 0; EACH s += q[i*m+j]; EACH a[i*m+j] = b[i*m+j] * s;)
PROGRAM(minmax, int s = 99, t = -99; EACH { if (q[i*m+j] < s) s = q[i*m+j]; if (q[i*m+j] > t) t = q[i*m+j]; } EACH a[i*m+j] = b[i*m+j] - s + t; p[i] = s * t;)
PROGRAM(guard, if (r[i] >= 0) { EACH a[i*m+j] = 3 * b[i*m+j]; r[i] = 4; } else r[i] = 9;)
PROGRAM(guardsum, int s = 5; if (r[i] >= 0) { EACH s += q[i*m+j]; } p[i] = s;)
PROGRAM(contin, if (r[i] < 0) continue; EACH a[i*m+j] = 3 * b[i*m+j];)
PROGRAM(prev, EACH a[i*m+j] = i; for (int j = 1; j < m; j++) a[i*m+j] = a[i*m+j-1] + 1;)
PROGRAM(atomics, int s = 0; EACH s += q[i*m+j];
_Pragma("acc atomic update")
p[i % 3] += s;)
PROGRAM(several, int s = 0, t = 1; EACH s += q[i*m+j]; if (s > 0) t = s; EACH a[i*m+j] += t; EACH s += a[i*m+j] > 3; p[i] = s;)
PROGRAM(products, unsigned s = 1; EACH s *= q[i*m+j] | 1; p[i] = s % 1000;)
PROGRAM(longer, long s = 1; EACH s += (long)q[i*m+j] << 20; for (int j = 1; j < m - 1; j++) b[i*m+j] = s % 100; p[i] = s % 1000;)
PROGRAM(short_inside, EACH { int s = 0; for (int k = 0; k < 3; k++) s += q[i*m+j] * k; a[i*m+j] = s; } r[i] = 2;)
PROGRAM(dot, float s = 0; EACH s += b[i*m+j] * q[j]; r[i] = s;)
PROGRAM(own, float w = a[i*m+m/2]; EACH a[i*m+j] = w + b[i*m+j];)
PROGRAM(own_shared, float w = a[i*m+m/2]; SHARED a[i*m+j] = w + b[i*m+j];)
PROGRAM(own_before, float w = a[i*m]; SHARED_FROM(1) a[i*m+j] = w + b[i*m+j];)
PROGRAM(alternate, for (int j = 0; j < m; j += 2) a[i*m+j] = 1; for (int j = 1; j < m; j += 2) a[i*m+j] = a[i*m+j-1] + 1; r[i] = a[i*m];)
static void scalars(int n, int m) {
  int s, t;
  set();
#pragma acc parallel loop copy(a, b, r, q, p) private(s, t)
  for (int i = 0; i < n; i++) {
    s = 0;
    t = r[i] > 0 ? 3 : 4;
    EACH s += q[i*m+j] * t;
    p[i] = s;
  }
  show("scalars", m);
}

int main(void) {
  static const int lengths[] = {0, 1, 3, 7, 8, 9, 33, 100};
  for (int k = 0; k < 8; k++) {
    int m = lengths[k];
    call(N, m);
    cond(N, m);
    store(N, m);
    storeread(N, m);
    after(N, m);
    isum(N, m);
    imax(N, m);
    imaxif(N, m);
    fmx(N, m);
    fsum(N, m);
    count(N, m);
    any(N, m);
    xorr(N, m);
    first(N, m);
    two(N, m);
    shift(N, m);
    norm(N, m);
    minmax(N, m);
    guard(N, m);
    guardsum(N, m);
    contin(N, m);
    prev(N, m);
    atomics(N, m);
    several(N, m);
    products(N, m);
    longer(N, m);
    short_inside(N, m);
    dot(N, m);
    own(N, m);
    own_shared(N, m);
    own_before(N, m);
    alternate(N, m);
    scalars(N, m);
  }
  return 0;
}
