/* Sums and extremes of few long rows, which all gangs share, beside other statements; some are too short. */
#include <stdio.h>
#include <stdlib.h>

static void sums(int n, int m, const int *restrict q, const float *restrict b, int *restrict p, float *restrict r)
{
#pragma acc parallel loop copyin(q[0:n * m]) copyout(p[0:n])
  for (int i = 0; i < n; i++) {
    int s = i;
    for (int j = 0; j < m; j++)
      s += q[i * m + j];
    p[i] = s;
  }
#pragma acc parallel loop gang copyin(b[0:n * m]) copyout(r[0:n])
  for (int i = n - 1; i >= 0; i--) {
    float s = 1, t = -1, w = b[i * m];
#pragma acc loop vector reduction(+:s) reduction(max:t)
    for (int j = 3; j < m; j++) {
      s += b[i * m + j] + w;
      t = b[i * m + j] > t ? b[i * m + j] : t;
    }
    r[i] = s + t;
  }
}

static void planes(int l, int n, int m, const int *restrict q, long *restrict p)
{
#pragma acc parallel loop copyin(q[0:l * n * m]) copyout(p[0:l * n])
  for (int k = 0; k < l; k++)
#pragma acc loop
    for (int i = 0; i < n; i++) {
      long s = 0;
#pragma acc loop reduction(+:s)
      for (int j = 0; j < m; j++)
        s += (long)q[(k * n + i) * m + j] << 20;
      p[k * n + i] = s;
    }
}

int main(void)
{
  static const int rows[] = {0, 1, 3}, lengths[] = {8191, 8192, 17003};
  int *q = malloc(3 * 17003 * sizeof *q), p[4];
  float *b = malloc(3 * 17003 * sizeof *b), r[4];
  long u[4];
  for (int k = 0; k < 3 * 17003; k++) {
    q[k] = k * 7 % 11 - 3;
    b[k] = k % 5;
  }
  for (int x = 0; x < 3; x++)
    for (int y = 0; y < 3; y++) {
      int n = rows[x], m = lengths[y];
      sums(n, m, q, b, p, r);
      for (int i = 0; i < n; i++)
        printf("%d %d: %d %.1f\n", n, m, p[i], r[i]);
    }
  planes(3, 1, 8195, q, u);
  printf("%ld %ld %ld\n", u[0], u[1], u[2]);
  planes(1, 2, 8195, q, u);
  printf("%ld %ld\n", u[0], u[1]);
  return 0;
}
