/* Small arrays at the top of a function, which every iteration fills for itself; rows that cannot share a gang. */
#include "check.h"
#define N 8
#define M 64
struct pair {
  int x, y;
};
static int a[N][M], r[N][M], want[N][M], list[M], out[M], back[M];

static void check(int line) {
  int bad = 0;
  for (int k = 0; k < N * M; k++)
    bad += (&r[0][0])[k] != (&want[0][0])[k];
  if (bad)
    printf("line %d: ", line);
  CHECK_EQ(bad, 0);
}

#define NEST(outer, inner)                                             \
  memset(r, 0, sizeof r);                                              \
  _Pragma(outer) for (i = 0; i < N; i++) {                             \
    _Pragma(inner) for (j = 0; j < M; j++) {                           \
      for (k = 0; k < 3; k++)                                          \
        t[k] = a[i][j] + k;                                            \
      r[i][j] = t[0] + t[1] * t[2];                                    \
    }                                                                  \
  }                                                                    \
  check(__LINE__)

static void nests(void) {
  int i, j, k, t[3];
  for (i = 0; i < N; i++)
    for (j = 0; j < M; j++)
      want[i][j] = a[i][j] + (a[i][j] + 1) * (a[i][j] + 2);
  NEST("acc parallel loop gang copyin(a) copyout(r)", "acc loop vector");
  NEST("acc parallel loop gang private(t) copyin(a) copyout(r)", "acc loop vector");
  NEST("acc kernels loop independent copyin(a) copyout(r)", "acc loop independent");
  NEST("acc kernels copyin(a) copyout(r)", "acc loop private(t)");
}

static void others(int turns) {
  int i, j, n, t[2], filled[M], kept[M];
  double table[2][2];
  struct pair p[2];
#pragma acc parallel loop copyin(list) copyout(out)
  for (i = 0; i < M; i++) {
    table[0][0] = list[i], table[0][1] = list[i] + 1, table[1][0] = 2;
    table[1][1] = table[0][0] * table[0][1];
    p[0].x = list[i], p[1].x = 3, p[0].y = 4, p[1].y = list[i] * 2;
    out[i] = table[1][1] + table[1][0] + p[0].x * p[1].y + p[1].x + p[0].y;
  }
  for (i = 0; i < M; i++)
    CHECK_EQ(out[i], list[i] * (list[i] + 1) + 2 + list[i] * list[i] * 2 + 7);
  for (i = 0; i < M; i++)
    out[i] = back[i] = i;
  for (n = 0; n < turns; n++) {
#pragma acc parallel loop copyin(list) copy(out)
    for (i = 0; i < M; i++) {
      t[0] = list[i], t[1] = out[i];
      out[i] = t[1] * 3 + t[0];
    }
    for (i = 0; i < M; i++)
      back[i] = back[i] * 3 + list[i];
  }
  CHECK_EQ(memcmp(out, back, sizeof out), 0);
#pragma acc parallel loop gang copyin(a) copyout(r)
  for (i = 0; i < N; i++) {
#pragma acc loop vector
    for (j = 0; j < M; j++)
      filled[j] = a[i][j] * 3;
#pragma acc loop vector
    for (j = 0; j < M; j++)
      r[i][j] = filled[M - 1 - j] + a[i][j];
  }
  CHECK_EQ(r[7][5], a[7][M - 6] * 3 + a[7][5]);
  /* This one is wanted: its elements are shared, and come back. */
#pragma acc parallel loop copyin(list)
  for (i = 0; i < M; i++)
    kept[i] = list[i] * 7;
  CHECK_EQ(kept[13], list[13] * 7);
}

/* A flag keeps rows from being computed side by side; their number is known, but not as a constant of C. */
static void rows(int m) {
  int i, j, k, t = 9;
  memset(r, 0, sizeof r);
#pragma acc kernels loop copyin(a) copy(r)
  for (i = 0; i <= 4 - 1; ++i) {
#pragma acc loop
    for (j = m - 1; j >= 0; j--) {
#pragma acc loop
      for (k = 8 - 1; k >= 0; k--) {
        if (a[i][j * 8 + k] > 5)
          t = 1;
        r[i][j * 8 + k] = a[i][j * 8 + k] - k % 7;
      }
    }
  }
  CHECK_EQ(t, 1);
  for (i = 0; i < 4; i++)
    for (k = 0; k < m * 8; k++)
      want[i][k] = a[i][k] - k % 8 % 7;
  for (i = 4; i < N; i++)
    memset(want[i], 0, sizeof want[i]);
  check(__LINE__);
}

/* Arrays whose lengths the host cannot compute: each is one thread's, with and without directives inside. */
static void unknown_lengths(int m) {
  memset(r, 0, sizeof r);
#pragma acc kernels copyin(a, list) copy(r)
  for (int i = 0; i < N; i++) {
    int n = list[i] + 1, v[n], turned[n];
    for (int k = 0; k < n; k++)
      v[k] = a[i][k] + k;
    for (int k = 0; k < n; k++)
      turned[k] = v[n - 1 - k];
    for (int k = 0; k < n; k++)
      r[i][k] = turned[k];
  }
  memset(want, 0, sizeof want);
  for (int i = 0; i < N; i++)
    for (int k = 0; k <= list[i]; k++)
      want[i][k] = a[i][list[i] - k] + list[i] - k;
  check(__LINE__);
#pragma acc parallel loop copyin(a, list) copy(r)
  for (int i = 0; i < N; i++) {
    int v[m][list[i] + 1];
#pragma acc loop
    for (int j = 0; j < m; j++)
#pragma acc loop
      for (int k = 0; k <= list[i]; k++)
        v[j][k] = a[i][k] * j;
#pragma acc loop
    for (int k = 0; k <= list[i]; k++)
      r[i][k] = v[m - 1][list[i] - k];
  }
  for (int i = 0; i < N; i++)
    for (int k = 0; k <= list[i]; k++)
      want[i][k] = a[i][list[i] - k] * (m - 1);
  check(__LINE__);
}

int main(void) {
  for (int k = 0; k < N * M; k++)
    (&a[0][0])[k] = k * 7 % 23;
  for (int k = 0; k < M; k++)
    list[k] = k % 9;
  nests();
  others(3);
  rows(8);
  unknown_lengths(3);
  return report();
}
