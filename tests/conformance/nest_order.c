/* Nests of parallel loops written in any order, over arrays that lie in memory in one. */
#include "check.h"
#define N 37
#define M 70
static float a[M][N], b[M][N], c[N][M], d[M][N];
static int cube[5][M][N];

static void set(void) {
  for (int j = 0; j < M; j++)
    for (int i = 0; i < N; i++) {
      a[j][i] = (j * 13 + i * 7) % 11;
      b[j][i] = i - j;
      c[i][j] = i + 2 * j;
    }
}

static void own_variables(void) {
  int i, j;
  float t;
#pragma acc parallel loop copyin(a) copy(b)
  for (i = 0; i < N; i++) {
#pragma acc loop
    for (j = 0; j < M; j++) {
      t = a[j][i] * 2;
      b[j][i] += t;
    }
  }
  for (j = 0; j < M; j++)
    for (i = 0; i < N; i++)
      CHECK_EQ(b[j][i], i - j + 2 * a[j][i]);
}

static void own_arrays(void) {
  float w[4];
#pragma acc parallel loop copyin(a) copyout(d) private(w)
  for (int i = 1; i < N - 1; i++) {
#pragma acc loop private(w[0:4])
    for (int j = 1; j < M - 1; j++) {
      for (int k = 0; k < 4; k++)
        w[k] = a[j - 1 + k / 2][i - 1 + k];
      d[j][i] = w[0] + w[3];
    }
  }
  for (int j = 1; j < M - 1; j++)
    for (int i = 1; i < N - 2; i++)
      CHECK_EQ(d[j][i], a[j - 1][i - 1] + a[j][i + 2]);
}

static void sums(void) {
  double sum = 0, want = 0;
  float most = -1, largest = -1;
#pragma acc parallel loop collapse(2) reduction(+:sum) reduction(max:most) copyin(a)
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      sum += a[j][i];
      most = fmaxf(most, a[j][i] + i);
    }
  for (int j = 0; j < M; j++)
    for (int i = 0; i < N; i++) {
      want += a[j][i];
      largest = fmaxf(largest, a[j][i] + i);
    }
  CHECK_EQ(sum, want);
  CHECK_EQ(most, largest);
  sum = want = 0;
#pragma acc parallel loop reduction(+:sum) copyin(a)
  for (long i = 0; i < N; i++)
#pragma acc loop reduction(+:sum)
    for (int j = M - 1; j > 0; j--)
      sum += a[j][i];
  for (int j = 1; j < M; j++)
    for (int i = 0; i < N; i++)
      want += a[j][i];
  CHECK_EQ(sum, want);
}

static void between(void) {
#pragma acc parallel loop copyout(cube)
  for (int i = 0; i < N; i++) {
    int w = i * 3;
#pragma acc loop
    for (unsigned k = 0; k < 5; k++) {
      int v = w + k;
#pragma acc loop
      for (long j = 0; j < M; j += 2) {
        cube[k][j][i] = v * 2 + j;
        if (j + 1 < M)
          cube[k][j + 1][i] = -v;
      }
    }
  }
  for (int k = 0; k < 5; k++)
    for (int j = 0; j < M; j++)
      for (int i = 0; i < N; i++)
        CHECK_EQ(cube[k][j][i], j % 2 ? -(i * 3 + k) : (i * 3 + k) * 2 + j);
}

static void found_independent(int n, int m) {
  memset(d, 0, sizeof d);
#pragma acc kernels copyin(a, c) copy(d)
  for (int i = 1; i < n - 1; i++)
    for (int j = m - 2; j > 0; j--)
      d[j][i] = a[j][i - 1] + a[j][i + 1] + a[j - 1][i] + c[i][j];
  for (int j = 1; j < M - 1; j++)
    for (int i = 1; i < N - 1; i++)
      CHECK_EQ(d[j][i], a[j][i - 1] + a[j][i + 1] + a[j - 1][i] + c[i][j]);
#pragma acc parallel loop gang worker num_workers(4) copy(d)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      d[j][i] = i - 3 * j;
  for (int j = 0; j < M; j++)
    for (int i = 0; i < N; i++)
      CHECK_EQ(d[j][i], i - 3 * j);
}

/* Bounds that are computed between the loops, and counters of other widths. */
static void counters(int n, int m) {
  long sum = 0, want = 0;
#pragma acc kernels loop independent gang reduction(+:sum) copyout(cube)
  for (int i = 0; i < n; i++) {
    int u = i * 3 + 1;
    for (unsigned long j = 0; j < m; j++) {
      for (int k = 0; k < 5; k++) {
        cube[k][j][i] = u + (int)j * k;
        sum += cube[k][j][i] % 17;
      }
    }
  }
  for (int k = 0; k < 5; k++)
    for (int j = 0; j < m; j++)
      for (int i = 0; i < n; i++) {
        CHECK_EQ(cube[k][j][i], i * 3 + 1 + j * k);
        want += cube[k][j][i] % 17;
      }
  CHECK_EQ(sum, want);
#pragma acc kernels loop independent copy(cube)
  for (int i = 0; i < n; i++)
#pragma acc loop independent
    for (short k = 5 - 1; k >= 1; k -= 2)
      cube[k][0][i] = -k;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 5; k++)
      CHECK_EQ(cube[k][0][i], k == 2 || k == 4 ? -k : i * 3 + 1);
}

static void last_values(void) {
  int row = -1;
#pragma acc parallel loop copy(row) copyout(d)
  for (int i = 0; i < N; i++)
#pragma acc loop
    for (int j = 0; j < M; j++) {
      d[j][i] = 1;
      if (i == N - 1 && j == M - 1)
        row = j;
    }
  CHECK_EQ(row, M - 1);
#pragma acc parallel loop copy(d)
  for (int i = 0; i < N; i++)
#pragma acc loop
    for (int j = i; j < M; j++)
      d[j][i] = 5;
  for (int j = 0; j < M; j++)
    for (int i = 0; i < N; i++)
      CHECK_EQ(d[j][i], j >= i ? 5 : 1);
}

/*
 * Rows of the first of two collapsed loops, side by side in a thread: constants that are bounds and steps of
 * both, numbers of rows that are no multiple of those of a thread, a loop that counts down.
 */
#define ROWS 1101
static int few[5][9][4], other[5][9][4], level[ROWS][5][39];

static void shared_constants(int n, int m) {
  memset(few, 0, sizeof few);
  for (int z = 0; z < 5 * 9 * 4; z++)
    ((int *)other)[z] = z * 7 % 11;
#pragma acc parallel loop collapse(2) gang copy(few) copyin(other)
  for (unsigned long i = 1; i < n; i += 2)
    for (int j = m - 1; j >= 0; j--) {
#pragma acc loop vector
      for (long k = 0; k < 2; k++)
        few[k][j][i] += other[i][j][k] - 2 * (int)k;
    }
  for (int k = 0; k < 5; k++)
    for (int j = 0; j < 9; j++)
      for (int i = 0; i < 4; i++)
        CHECK_EQ(few[k][j][i], k < 2 && i % 2 && i < n && j < m ? other[i][j][k] - 2 * k : 0);
  memset(level, 0, sizeof level);
#pragma acc parallel loop collapse(2) copy(level)
  for (int i = 0; i < n; i += 3)
    for (int k = 3; k < 5; k += 3) {
#pragma acc loop
      for (int j = 0; j < m; j++)
        level[i][k][j] = i + k * 10 + j;
    }
  for (int i = 0; i < ROWS; i++)
    for (int k = 0; k < 5; k++)
      for (int j = 0; j < 39; j++)
        CHECK_EQ(level[i][k][j], i < n && i % 3 == 0 && k == 3 && j < m ? i + k * 10 + j : 0);
}

static void last_tiles(int m) {
  memset(level, 0, sizeof level);
#pragma acc parallel loop collapse(2) copy(level)
  for (int i = 4 - 1; i >= 2; i -= 2)
    for (int k = 0; k < 5; k++) {
#pragma acc loop
      for (unsigned j = 1; j < m; j++)
        level[i][k][j] += i + k * 10;
    }
  for (int i = 0; i < ROWS; i++)
    for (int k = 0; k < 5; k++)
      for (int j = 0; j < 39; j++)
        CHECK_EQ(level[i][k][j], i == 3 && j && j < m ? i + k * 10 : 0);
  memset(level, 0, sizeof level);
#pragma acc parallel loop collapse(2) copy(level)
  for (int i = 0; i < ROWS; i++)
    for (int k = 0; k < 5; k++) {
#pragma acc loop
      for (int j = 0; j < m; j++)
        level[i][k][j] = i + k * 10 + j;
    }
  for (int i = 0; i < ROWS; i++)
    for (int k = 0; k < 5; k++)
      for (int j = 0; j < 39; j++)
        CHECK_EQ(level[i][k][j], j < m ? i + k * 10 + j : 0);
}

/* A subscript that is the only use of several values computed from one counter. */
static void one_use_each(int n) {
  memset(level, 0, sizeof level);
#pragma acc parallel loop collapse(2) gang copy(level) copyin(other)
  for (unsigned long j = 0; j < n; j++)
    for (long i = 1 - 1; i >= 0; i--) {
#pragma acc loop
      for (long k = 5 - 1; k >= 0; k--) {
        int sum = 0;
        for (int q = 0; q < 5; q++)
          sum += other[q][k][j] * other[i][q][2];
        level[i][k][j] += sum;
      }
    }
  for (int k = 0; k < 5; k++)
    for (int j = 0; j < 39; j++) {
      int sum = 0;
      for (int q = 0; q < 5 && j < n; q++)
        sum += other[q][k][j] * other[0][q][2];
      CHECK_EQ(level[0][k][j], sum);
    }
}

int main(void) {
  set();
  own_variables();
  own_arrays();
  sums();
  between();
  found_independent(N, M);
  counters(N, M);
  last_values();
  shared_constants(4, 7);
  last_tiles(38);
  one_use_each(4);
  return report();
}
