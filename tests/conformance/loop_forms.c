/* Loops that count in all ways; collapse, tile and sizes of levels with all forms of arguments. */
#include "check.h"
#include <stdbool.h>
#define N 50
static int count(const int *a, int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += a[i];
  return s;
}

static void forms(void) {
  int a[N], i;
  long long ll;
  unsigned long ul;
  short s;
  signed char c;
  unsigned char uc;
  unsigned short us;
  _Bool dummy = 0;
  int n = N, step = 3;
  (void)dummy;
#define T(decl, FORV) memset(a, 0, sizeof a); decl FORV
  memset(a, 0, sizeof a);
#pragma acc parallel loop copy(a)
  for (ll = 0; ll < n; ll += step)
    a[ll] = 1;
  CHECK_EQ(count(a, N), 17);
#pragma acc parallel loop copy(a)
  for (ul = n - 1; ul > 0; ul--)
    a[ul] = 2;
  CHECK_EQ(count(a, N), 2 * 49 + 1);
#pragma acc parallel loop copy(a)
  for (s = -10; s <= 10; s = s + 2)
    a[s + 10] = 3;
  CHECK_EQ(a[20], 3);
#pragma acc parallel loop copy(a)
  for (c = 49; c >= 0; c -= 7)
    a[c] = 4;
  CHECK_EQ(a[0], 4);
  CHECK_EQ(a[49], 4);
  CHECK_EQ(a[48], 2);
#pragma acc parallel loop copy(a)
  for (us = 0; n > us; us += 1)
    a[us] = 5;
  CHECK_EQ(count(a, N), 250);
#pragma acc parallel loop copy(a)
  for (uc = 10; 0 < uc; --uc)
    a[uc] = 6;
  CHECK_EQ(count(a, N), 260);
#pragma acc parallel loop copy(a)
  for (int j = n - 1; j >= 0; --j)
    a[j] = 7;
  CHECK_EQ(count(a, N), 350);
  enum {
    LO = 5, HI = 15
  };
#pragma acc parallel loop copy(a)
  for (i = LO; i != HI; i++)
    a[i] = 8;
  CHECK_EQ(count(a, N), 360);
#pragma acc parallel loop copy(a)
  for (i = HI; i != LO; i--)
    a[i] = 9;
  CHECK_EQ(count(a, N), 360 + 9 + 2);
#pragma acc parallel loop copy(a)
  for (i = n * 2; i > n; i -= step * 2)
    a[i - n - 1] = 1;
  CHECK_EQ(a[49], 1);
  CHECK_EQ(a[43], 1);
}

static void collapse(void) {
  static int m[5][6][7][3];
  int i, j, k, l, bad = 0;
#pragma acc parallel loop collapse(4) copyout(m)
  for (i = 0; i < 5; i++)
    for (j = 0; j < 6; j++)
      for (k = 0; k < 7; k++)
        for (l = 0; l < 3; l++)
          m[i][j][k][l] = i * 1000 + j * 100 + k * 10 + l;
  for (i = 0; i < 5; i++)
    for (j = 0; j < 6; j++)
      for (k = 0; k < 7; k++)
        for (l = 0; l < 3; l++)
          bad += m[i][j][k][l] != i * 1000 + j * 100 + k * 10 + l;
  CHECK_EQ(bad, 0);
#pragma acc parallel loop collapse(force:3) copy(m)
  for (i = 0; i < 5; i++) {
    int x = i;
    for (j = 0; j < 6; j++) {
      x = i + j;
      for (k = 0; k < 7; k++) {
        for (l = 0; l < 3; l++)
          m[i][j][k][l] += x;
      }
    }
  }
  for (i = 0; i < 5; i++)
    for (j = 0; j < 6; j++)
      for (k = 0; k < 7; k++)
        for (l = 0; l < 3; l++)
          bad += m[i][j][k][l] != i * 1000 + j * 100 + k * 10 + l + i + j;
  CHECK_EQ(bad, 0);
#pragma acc parallel loop collapse(force:2) copy(m)
  for (i = 0; i < 5; i++) {
    for (j = 0; j < 6; j++)
      m[i][j][0][0] = 0;
    m[i][0][0][1] = -1;
  }
  for (i = 0; i < 5; i++) {
    CHECK_EQ(m[i][0][0][1], -1);
    for (j = 0; j < 6; j++)
      CHECK_EQ(m[i][j][0][0], 0);
  }
  /* collapse(1), nested loops inner sequential */
#pragma acc parallel loop collapse(1) copy(m)
  for (i = 0; i < 5; i++)
    for (j = 0; j < 6; j++)
      m[i][j][1][1] = 5;
  CHECK_EQ(m[4][5][1][1], 5);
#pragma acc kernels
  {
#pragma acc loop collapse(2) independent gang
    for (i = 0; i < 5; i++)
      for (j = 0; j < 6; j++)
#pragma acc loop collapse(2) vector
        for (k = 0; k < 7; k++)
          for (l = 0; l < 3; l++)
            m[i][j][k][l] = i + j + k + l;
  }
  for (i = 0; i < 5; i++)
    for (j = 0; j < 6; j++)
      for (k = 0; k < 7; k++)
        for (l = 0; l < 3; l++)
          bad += m[i][j][k][l] != i + j + k + l;
  CHECK_EQ(bad, 0);
  /* mixed counters */
  unsigned char uc;
  long w;
#pragma acc parallel loop collapse(2) copy(m)
  for (uc = 4; uc > 0; uc--)
    for (w = 5; w >= 0; w -= 2)
      m[uc][w][0][0] = 77;
  CHECK_EQ(m[4][5][0][0], 77);
  CHECK_EQ(m[1][1][0][0], 77);
  CHECK_EQ(m[0][1][0][0], 1);
  CHECK_EQ(m[1][0][0][0], 1);
}

static void tiles(void) {
  static int m[20][30][10];
  int i, j, k, bad = 0;
  enum {
    TX = 4
  };
  const int cs = 3;
#define RESET memset(m, 0, sizeof m)
#define ALLARE(v) for (i = 0; i < 20; i++) for (j = 0; j < 30; j++) for (k = 0; k < 10; k++) bad += m[i][j][k] != (v); CHECK_EQ(bad, 0); bad = 0
  RESET;
#pragma acc parallel loop tile(7) copy(m)
  for (i = 0; i < 20; i++)
    for (j = 0; j < 30; j++)
      for (k = 0; k < 10; k++)
        m[i][j][k]++;
#pragma acc parallel loop tile(*) copy(m)
  for (i = 0; i < 20; i++)
    for (j = 0; j < 30; j++)
      for (k = 0; k < 10; k++)
        m[i][j][k]++;
#pragma acc parallel loop tile(*, *) copy(m)
  for (i = 0; i < 20; i++)
    for (j = 0; j < 30; j++)
      for (k = 0; k < 10; k++)
        m[i][j][k]++;
#pragma acc parallel loop tile(TX, 2*TX+1) copy(m) gang vector
  for (i = 0; i < 20; i++)
    for (j = 0; j < 30; j++)
      for (k = 0; k < 10; k++)
        m[i][j][k]++;
#pragma acc parallel loop tile(3, *, 64) copy(m) gang worker vector
  for (i = 0; i < 20; i++)
    for (j = 0; j < 30; j++)
      for (k = 0; k < 10; k++)
        m[i][j][k]++;
#pragma acc parallel copy(m)
  {
#pragma acc loop tile(2, 3, 4) gang worker
    for (i = 0; i < 20; i++)
      for (j = 0; j < 30; j++)
        for (k = 0; k < 10; k++)
          m[i][j][k]++;
  }
#pragma acc kernels loop tile(8, 8) independent copy(m)
  for (i = 19; i >= 0; i--)
    for (j = 1; j <= 30; j++)
      for (k = 0; k < 10; k++)
        m[i][j-1][k]++;
#pragma acc serial loop tile(2,2) copy(m)
  for (i = 0; i < 20; i++)
    for (j = 0; j < 30; j++)
      for (k = 0; k < 10; k++)
        m[i][j][k]++;
#pragma acc parallel loop tile(1000, 1) copy(m)
  for (i = 0; i < 20; i++)
    for (j = 0; j < 30; j++)
      for (k = 0; k < 10; k++)
        m[i][j][k]++;
  ALLARE(9);
  (void)cs;
  int s = 0;
#pragma acc parallel loop tile(4, 4) reduction(+:s)
  for (i = 0; i < 20; i++)
    for (j = 0; j < 30; j++)
      s += i * j;
  CHECK_EQ(s, 190 * 435);
}

static void sized(void) {
  int a[N], i, g = 8, w = 2, v = 32;
  for (i = 0; i < N; i++)
    a[i] = 0;
#pragma acc kernels loop gang(num:g) worker(num:w) vector(length:v) copy(a)
  for (i = 0; i < N; i++)
    a[i]++;
#pragma acc kernels loop gang(g) worker(w) vector(v) copy(a)
  for (i = 0; i < N; i++)
    a[i]++;
#pragma acc kernels loop gang(num:4, static:2) copy(a)
  for (i = 0; i < N; i++)
    a[i]++;
#pragma acc kernels loop gang(static:*, num:4) copy(a)
  for (i = 0; i < N; i++)
    a[i]++;
#pragma acc kernels copy(a)
  {
#pragma acc loop gang(num:4)
    for (i = 0; i < 5; i++)
#pragma acc loop vector(length:16)
      for (int j = 0; j < 10; j++)
        a[i * 10 + j]++;
  }
#pragma acc parallel loop gang(static:1) copy(a)
  for (i = 0; i < N; i++)
    a[i]++;
#pragma acc parallel loop gang(static:g) vector copy(a)
  for (i = 0; i < N; i++)
    a[i]++;
#pragma acc parallel loop gang(dim:1) copy(a)
  for (i = 0; i < N; i++)
    a[i]++;
#pragma acc parallel loop gang(dim:2) copy(a) num_gangs(1,4)
  for (i = 0; i < N; i++)
    a[i]++;
#pragma acc parallel loop gang(dim:3, static:2) copy(a) num_gangs(1,1,4)
  for (i = 0; i < N; i++)
    a[i]++;
#pragma acc parallel num_gangs(2, 2, 2) copy(a)
  {
#pragma acc loop gang(dim:3)
    for (int x = 0; x < 5; x++)
#pragma acc loop gang(dim:2)
      for (int y = 0; y < 5; y++)
#pragma acc loop gang(dim:1)
        for (int z = 0; z < 2; z++)
          a[x * 10 + y * 2 + z]++;
  }
  for (i = 0; i < N; i++)
    CHECK_EQ(a[i], 11);
}

/* What runs in order does so in C's order, tiled or not; sizes larger than what is left of the type. */
#define ORDERED(directive)                                      \
  s = 1;                                                        \
  _Pragma(directive) for (i = 0; i < 5; i++)                    \
      for (j = 0; j < 6; j++) {                                 \
    s = s * 3 % 1009 + i;                                       \
    m[i][j] = s;                                                \
  }                                                             \
  CHECK_EQ(m[3][2], want[3][2]);                                \
  CHECK_EQ(m[1][5], want[1][5])

static void tiles_in_order(void) {
  int m[5][6], want[5][6], d[8][8], again[8][8], a[100], i, j, s = 1, big = 2147483647;
  for (i = 0; i < 5; i++)
    for (j = 0; j < 6; j++)
      want[i][j] = s = s * 3 % 1009 + i;
  ORDERED("acc kernels loop tile(2, 4)");
  ORDERED("acc serial loop tile(2, 4)");
  ORDERED("acc parallel loop seq tile(2, 4) num_gangs(1)");
  ORDERED("acc parallel loop auto tile(2, 4)");
  for (i = 0; i < 8; i++)
    for (j = 0; j < 8; j++)
      d[i][j] = again[i][j] = i * 7 + j * j;
#pragma acc kernels loop tile(2, 4)
  for (i = 1; i < 8; i++)
    for (j = 0; j < 7; j++)
      d[i][j] += d[i - 1][j + 1] * 3;
  for (i = 1; i < 8; i++)
    for (j = 0; j < 7; j++)
      again[i][j] += again[i - 1][j + 1] * 3;
  CHECK_EQ(memcmp(d, again, sizeof d), 0);
  memset(a, 0, sizeof a);
#pragma acc parallel loop tile(big) copy(a)
  for (i = 0; i < 100; i++)
    a[i]++;
#pragma acc parallel loop tile(2147483647) copy(a)
  for (i = 0; i < 100; i += 2)
    a[i]++;
  CHECK_EQ(count(a, 100), 150);
}

static int total;
static void without_effects(int n) {
  int a[40] = {0}, most = 3, own = 4;
  total = 12;
#pragma acc parallel loop collapse(2) reduction(^ : total) num_workers(2)
  for (int i = 1; i < n; i += 3)
    for (unsigned j = 0; j < 3; j += 3) {
    }
  CHECK_EQ(total, 12);
#pragma acc parallel num_gangs(4) reduction(max : most)
  {
#pragma acc loop gang
    for (int i = 0; i < n; i++)
      (void)(i * n);
    most = most > 5 ? most : 5;
  }
  CHECK_EQ(most, 5);
#pragma acc parallel num_gangs(3) copy(a) reduction(+ : total)
  {
    for (int k = 0; k < 2; k++) {
#pragma acc loop gang vector
      for (int i = 0; i < n; i++)
        ;
    }
    int third = n > 3 ? n / 3 : 1;
    total += third;
#pragma acc loop gang
    for (int i = 0; i < 40; i++)
      a[i] += third;
  }
  CHECK_EQ(total, 12 + 3 * (n / 3));
#pragma acc parallel num_gangs(2) firstprivate(own) copy(a)
  {
#pragma acc loop gang
    for (int i = 0; i < n; i++)
      ;
#pragma acc loop gang worker
    for (int i = 0; i < 40; i++)
      a[i] += own;
  }
  CHECK_EQ(count(a, 40), 40 * (n / 3 + 4));
}

/* Steps whose sign only the run shows: under a directive the loop ends, so it is that of the comparison. */
static void signs(int back, long long wide, unsigned wrapped, short narrow) {
  int a[N], i;
  unsigned u;
  memset(a, 0, sizeof a);
#pragma acc parallel loop copy(a)
  for (i = N - 1; i > 5; i += back)
    a[i] += 1;
#pragma acc parallel loop copy(a)
  for (long long l = 2; l <= N - 2; l -= wide)
    a[l] += 10;
#pragma acc parallel loop copy(a)
  for (u = N - 1; u >= 7; u += wrapped)
    a[u] += 100;
#pragma acc parallel loop gang vector collapse(2) copy(a)
  for (short k = 4; 0 < k; k = narrow + k)
    for (int *p = a + 9; p >= a + 1; p = p + back)
      p[10 * k] += 1000;
  for (i = 0; i < N; i++) {
    int down = i > 5 && (N - 1 - i) % 3 == 0, up = i >= 2 && i <= N - 2 && (i - 2) % 5 == 0;
    int wraps = i >= 7 && (N - 1 - i) % 4 == 0, pair = i >= 20 && (i / 10) % 2 == 0 && (9 - i % 10) % 3 == 0 && i % 10;
    CHECK_EQ(a[i], down + 10 * up + 100 * wraps + 1000 * pair);
  }
}

/* Unsigned numbers on both sides of 2 to the 63: their differences count, not their order as signed ones. */
static void around_the_largest(void) {
  enum { M = 1500 };
  const unsigned long long half = 1ULL << 63;
  static int a[M];
  unsigned long long i;
  long long s;
#pragma acc parallel loop copy(a)
  for (i = __LONG_LONG_MAX__ + 3ULL * M - 27; i > __LONG_LONG_MAX__ - 27ULL; i -= 3)
    a[(i + 26LL - __LONG_LONG_MAX__) / 3] += 1;
#pragma acc parallel loop copy(a)
  for (i = (1ULL << 63) - 700; i <= (1ULL << 63) + 799; i++)
    a[i - half + 700] += 10;
#pragma acc parallel loop copy(a)
  for (i = M - 1; i != -1ULL; i--)
    a[i] += 100;
#pragma acc parallel loop copy(a)
  for (s = -1; s < 5ULL; s++)
    a[0] = -1;
#pragma acc parallel loop copy(a)
  for (i = -1501ULL; i < -1ULL; i += 2)
    a[i + 1501] += 1000;
  for (int k = 0; k < M; k++) CHECK_EQ(a[k], 111 + (k % 2 == 0 ? 1000 : 0));
}

int main(void) {
  forms();
  around_the_largest();
  signs(-3, -5, -4u, -2);
  without_effects(7);
  tiles_in_order();
  collapse();
  tiles();
  sized();
  return report();
}
