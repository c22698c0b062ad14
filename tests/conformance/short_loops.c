/* Partitioned loops around short loops, whose iterations access any element, have arrays of their own, and use what they
   have just stored. */
#include "check.h"
#define N 203
static int at[N], next[N];
static double x[5][N], y[5][N], want[5][N];
static float f[3][N], g[3][N];
static short s[4][N];

static void permute(void) {
  for (int i = 0; i < N; i++)
    at[i] = i * 37 % N, next[i] = (i + 1) % N;
}

static void points(void) {
  for (int m = 0; m < 5; m++)
    for (int i = 0; i < N; i++)
      x[m][i] = m + i, y[m][i] = i % 7 - m;
  for (int i = 0; i < N; i++)
    for (int m = 0; m < 5; m++)
      want[m][at[i]] = 0.5 * x[m][at[i]] + y[m][next[i]];
#pragma acc parallel loop gang vector copyin(at, next, y) copy(x)
  for (int i = 0; i < N; i++)
    for (int m = 0; m < 5; m++)
      x[m][at[i]] = 0.5 * x[m][at[i]] + y[m][next[i]];
  for (int m = 0; m < 5; m++)
    for (int i = 0; i < N; i++)
      CHECK(x[m][i] == want[m][i]);
}

/* Elimination in memory: later statements load what earlier ones stored. */
static void eliminate(void) {
#pragma acc parallel loop copyin(at) copyout(x, y)
  for (int i = 0; i < N; i++) {
    int k = at[i];
    for (int m = 0; m < 5; m++)
      x[m][k] = m * 2 + k % 3;
    for (int m = 1; m < 5; m++) {
      y[m][i] = x[m][k] + x[m - 1][k];
      x[m][k] = y[m][i] - 1;
    }
    y[0][i] = x[4][k];
  }
  for (int i = 0; i < N; i++) {
    double last = at[i] % 3;
    for (int m = 1; m < 5; m++)
      last = m * 2 + at[i] % 3 + last - 1;
    CHECK(y[0][i] == last);
    CHECK(x[4][at[i]] == last);
  }
}

/* An array of each iteration, conditions, nested short loops, other types. */
static void own_arrays(void) {
  for (int m = 0; m < 3; m++)
    for (int i = 0; i < N; i++)
      f[m][i] = i - 100 * m;
#pragma acc parallel loop gang copyin(at, f) copyout(g, s)
  for (int i = 0; i < N; i++) {
    float own[3];
    int bits = 0;
    for (int m = 0; m < 3; m++)
      own[m] = f[(m + at[i]) % 3][at[i]];
    for (int m = 0; m < 3; m++) {
      float sum = 0;
      for (int k = 0; k < 3; k++)
        sum += k == m ? 2 * own[k] : own[k];
      g[m][at[i]] = sum;
      if (sum > 50)
        bits |= 1 << m;
    }
    for (int m = 0; m < 4; m++)
      s[m][at[i]] = (short)(bits + m);
  }
  for (int k = 0; k < N; k++) {
    int bits = 0;
    for (int m = 0; m < 3; m++) {
      int sum = 4 * k - 300 - 100 * ((m + k) % 3);
      CHECK(g[m][k] == sum);
      bits |= (sum > 50) << m;
    }
    for (int m = 0; m < 4; m++)
      CHECK(s[m][k] == bits + m);
  }
}

int main(void) {
  permute();
  points();
  eliminate();
  own_arrays();
  return report();
}
