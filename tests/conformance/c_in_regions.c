/* C inside of constructs: counters of any storage, pointers, unions, limits, jumps. */
#include "check.h"
#include <openacc.h>
#include <stdint.h>
#include <stdbool.h>
#include <limits.h>
#include <float.h>
#define N 32
int gi;
static int gj;
static long gk;
struct st {
  int i;
} gs;
static void globals_as_counters(void) {
  int a[N], b[N][3];
  static int si;
#pragma acc parallel loop copyout(a)
  for (gi = 0; gi < N; gi++)
    a[gi] = gi;
  CHECK_EQ(a[31], 31);
#pragma acc parallel loop collapse(2) copyout(b)
  for (gi = 0; gi < N; gi++)
    for (gj = 0; gj < 3; gj++)
      b[gi][gj] = gi * 3 + gj;
  CHECK_EQ(b[31][2], 95);
#pragma acc kernels copy(a)
  for (si = 0; si < N; si++)
    a[si]++;
  CHECK_EQ(a[31], 32);
#pragma acc parallel loop gang copy(a)
  for (gk = 0; gk < N / 4; gk++) {
#pragma acc loop vector
    for (gi = 0; gi < 4; gi++)
      a[gk * 4 + gi] += 1;
  }
  CHECK_EQ(a[31], 33);
#pragma acc serial copy(a)
  {
    for (gi = 0; gi < N; gi++)
      a[gi] -= 1;
  }
  CHECK_EQ(a[31], 32);
#pragma acc parallel loop copy(a)
  for (int i = 0; i < N; i++) {
    for (gj = 0; gj < 3; gj++)
      a[i] += gj;
  }
  CHECK_EQ(a[31], 35);
}

typedef struct {
  double x, y;
  int id;
  bool on;
} P;
typedef union {
  float f;
  uint32_t u;
  unsigned char b[4];
} U;
static void pointers(void) {
  P ps[N], *first = ps;
  int idx[N], d[N], i;
  ptrdiff_t diff[N];
  int m[4][8];
  uint64_t u64[N];
  U un[N];
  volatile int vflag = 3;
  for (i = 0; i < N; i++) {
    ps[i].x = i;
    ps[i].y = -i;
    ps[i].id = i;
    ps[i].on = i & 1;
    idx[i] = (i * 7) % N;
  }
#pragma acc parallel loop copy(ps) copyin(idx) copyout(d, diff)
  for (i = 0; i < N; i++) {
    P *p = &ps[idx[i]], *q = ps + i;
    const double *dp = &q->y;
    d[i] = p > q ? 1 : p == q ? 0 : -1;
    diff[i] = p - q;
    P copy = *q, *pc = &copy;
    pc->x *= 2;
    (*pc).id++;
    q->x = pc->x + *dp;
    q->on = !copy.on;
  }
  for (i = 0; i < N; i++) {
    CHECK_EQ(diff[i], (i * 7) % N - i);
    CHECK_NEAR(ps[i].x, i);
    CHECK_EQ(ps[i].on, !(i & 1));
    CHECK_EQ(d[i], (i*7)%N > i ? 1 : (i*7)%N == i ? 0 : -1);
  }
#pragma acc parallel loop copyout(m)
  for (i = 0; i < 4; i++) {
    int *rows[4] = {m[0], m[1], m[2], m[3]};
    int **pp = rows;
    for (int j = 0; j < 8; j++)
      pp[i][j] = i * 8 + j;
  }
  CHECK_EQ(m[3][7], 31);
#pragma acc parallel loop copyout(u64, un) firstprivate(vflag)
  for (i = 0; i < N; i++) {
    uint32_t lo = (uint32_t)i * 0x9E3779B9u;
    uint64_t hi = (uint64_t)lo << 32 | ~lo;
    U u;
    u.f = 1.5f * i;
    un[i].u = u.u;
    u64[i] = hi ^ (hi >> 7);
    un[i].b[0] = (unsigned char)(u.b[0] + vflag - 3);
    (void)sizeof(struct { int q; });
  }
  for (i = 0; i < N; i++) {
    uint32_t lo = (uint32_t)i * 0x9E3779B9u;
    uint64_t hi = (uint64_t)lo << 32 | ~lo;
    CHECK(u64[i] == (hi ^ (hi >> 7)));
    CHECK_NEAR(un[i].f, 1.5f * i);
  }
  int lim[6];
  double fl[3];
#pragma acc serial copyout(lim, fl)
  {
    lim[0] = INT_MAX;
    lim[1] = INT_MIN;
    lim[2] = CHAR_BIT;
    lim[3] = (int)(UINT_MAX >> 1);
    lim[4] = SHRT_MIN;
    lim[5] = -7 / 2 * 10 + -7 % 3;
    fl[0] = DBL_MAX;
    fl[1] = FLT_EPSILON;
    fl[2] = (double)LLONG_MAX;
  }
  CHECK_EQ(lim[1], INT_MIN);
  CHECK_EQ(lim[5], -31);
  CHECK(fl[0] == DBL_MAX);
  CHECK(fl[1] == FLT_EPSILON);
  (void)first;
}

static int apply(int which, int x) {
  switch (which) {
    case 0: return x + 1;
    case 1: {
      int t = x;
      while (t > 3)
        t /= 2;
      return t;
    }
    case 2: case 3: x *= 2;
    /* fall through */ default: return x - which;
  }
}

static void flows(void) {
  int r[N], i;
#pragma acc parallel loop copyout(r)
  for (i = 0; i < N; i++) {
    int acc = 0, k = 0;
    for (;;) {
      if (k >= i)
        break;
      if (k % 3 == 0) {
        k++;
        continue;
      }
      acc += apply(k % 5, k);
      k++;
    }
    do {
      acc ^= k;
      k -= 2;
    }
    while (k > 0);
    if (acc < 0)
      goto neg;
    acc += 1000;
    goto end;
    neg: acc = -acc;
    end: r[i] = acc, acc++;
  }
  for (i = 0; i < N; i++) {
    int acc = 0, k = 0;
    for (;;) {
      if (k >= i)
        break;
      if (k % 3 == 0) {
        k++;
        continue;
      }
      acc += apply(k % 5, k);
      k++;
    }
    do {
      acc ^= k;
      k -= 2;
    }
    while (k > 0);
    if (acc < 0)
      acc = -acc;
    else
      acc += 1000;
    CHECK_EQ(r[i], acc);
  }
#pragma acc parallel loop copyout(r)
  for (i = 0; i < N; i++)
    r[i] = (i, i * 2) + (i > 4 && i < 9 || i == 20) * 100 + !i + ~i + -i + (i ? i : 7)
        + (int)sizeof(r) * 0;
  for (i = 0; i < N; i++)
    CHECK_EQ(r[i], i * 2 + (i > 4 && i < 9 || i == 20) * 100 + !i + ~i + -i + (i ? i : 7));
}

#define UP_TO(limit, value) ({ int v_ = (value); if (v_ > (limit)) break; v_; })
#define UNLESS(divisor, value) ({ int v_ = (value); if (v_ % (divisor) == 1) continue; v_; })

/* Jumps out of statement expressions, to loops inside the directive's loop and to its own end. */
static void statement_expressions(void) {
  int r[N], s[N], t[N];
#pragma acc parallel loop copyout(r)
  for (int i = 0; i < N; i++) {
    int sum = 0;
    for (int k = 0; k < 9; k++)
      sum += UP_TO(40, k * i);
    do
      sum += UP_TO(90, sum + 5);
    while (sum < 100);
    r[i] = sum;
  }
#pragma acc parallel loop copyout(s)
  for (int i = 0; i < N; i++) {
    s[i] = -1;
    s[i] = UNLESS(3, i);
  }
#pragma acc kernels loop independent copyout(t)
  for (int i = 0; i < N; i++) {
    t[i] = 0;
    for (int k = 0; k < 9; k++)
      t[i] += UNLESS(4, i + k) + ({ if (i == 3) goto next; 1; });
  next:;
  }
  for (int i = 0; i < N; i++) {
    int sum = 0, some = 0;
    for (int k = 0; k < 9 && k * i <= 40; k++)
      sum += k * i;
    while (sum + 5 <= 90) {
      sum += sum + 5;
      if (sum >= 100)
        break;
    }
    for (int k = 0; k < 9; k++)
      some += (i + k) % 4 == 1 ? 0 : i + k + 1;
    CHECK_EQ(r[i], sum);
    CHECK_EQ(s[i], i % 3 == 1 ? -1 : i);
    CHECK_EQ(t[i], i == 3 ? 0 : some);
  }
}

int main(void) {
  statement_expressions();
  globals_as_counters();
  pointers();
  flows();
  return report();
}
