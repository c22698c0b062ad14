/* Reductions of _Bool, enumerations and extremes; nested, tiled, present, asynchronous; sections. */
#include "check.h"
#include <stdbool.h>
#define N 128
enum color {
  RED, GREEN = 5, BLUE
};
static void boolean(void) {
  _Bool all = true, any = false, x = 0;
  int i;
  bool in[N];
  for (i = 0; i < N; i++)
    in[i] = i % 3 == 0;
#pragma acc parallel loop reduction(&&:all) reduction(||:any) reduction(^:x)
  for (i = 0; i < N; i++) {
    all = all && in[i];
    any = any || in[i];
    x ^= in[i];
  }
  CHECK_EQ(all, 0);
  CHECK_EQ(any, 1);
  CHECK_EQ(x, 1);
  all = true;
  any = false;
#pragma acc parallel loop reduction(&:all) reduction(|:any) copyin(in)
  for (i = 0; i < N; i++) {
    all &= in[i] | 1;
    any |= in[i];
  }
  CHECK_EQ(all, 1);
  CHECK_EQ(any, 1);
}

static void enums(void) {
  enum color m = RED, lo = BLUE, in[N];
  int i, n[7] = {0};
  for (i = 0; i < N; i++)
    in[i] = i % 2 ? GREEN : BLUE;
#pragma acc parallel loop reduction(max:m) reduction(min:lo) copyin(in)
  for (i = 0; i < N; i++) {
    if (in[i] > m)
      m = in[i];
    lo = in[i] < lo ? in[i] : lo;
  }
  CHECK_EQ(m, BLUE);
  CHECK_EQ(lo, GREEN);
#pragma acc parallel loop copy(n) copyin(in)
  for (i = 0; i < N; i++) {
#pragma acc atomic
    n[in[i]]++;
  }
  CHECK_EQ(n[GREEN], N/2);
  CHECK_EQ(n[BLUE], N/2);
}

static void minmax(void) {
  char cmx = -128, cmn = 127;
  short smx = -32768;
  unsigned umn = 0xffffffffu, umx = 0;
  long long lmx = -(1LL<<62), lmn = 1LL<<62;
  float fmn = 1e30f;
  double dmx=-1e300;
  unsigned long long umx64 = 0;
  int i;
#pragma acc parallel loop reduction(max:cmx,smx,umx,lmx,dmx,umx64) reduction(min:cmn,umn,lmn,fmn)
  for (i = 0; i < N; i++) {
    char c = (char)(i - 100);
    short s = (short)(i * -7);
    unsigned u = 4000000000u + i;
    long long l = (long long)i << 33;
    cmx = c > cmx ? c : cmx;
    if (c < cmn)
      cmn = c;
    if (s > smx)
      smx = s;
    umx = umx > u ? umx : u;
    umn = umn < u ? umn : u;
    lmx = l > lmx ? l : lmx;
    lmn = -l < lmn ? -l : lmn;
    fmn = fminf(fmn, -i * 0.5f);
    dmx = fmax(dmx, i * 1e10);
    umx64 = umx64 < 0xfffffffffffff000ull + i ? 0xfffffffffffff000ull + i : umx64;
  }
  CHECK_EQ(cmx, 27);
  CHECK_EQ(cmn, -100);
  CHECK_EQ(smx, 0);
  CHECK_EQ(umx, 4000000127u);
  CHECK_EQ(umn, 4000000000u);
  CHECK_EQ(lmx, 127LL << 33);
  CHECK_EQ(lmn, -(127LL << 33));
  CHECK_NEAR(fmn, -63.5);
  CHECK_NEAR(dmx, 127e10);
  CHECK(umx64 == 0xfffffffffffff07full);
}

static void nested(void) {
  int i, j, k, t = 5;
  long cnt = 0;
  double d = 0;
#pragma acc parallel loop gang reduction(+:t)
  for (i = 0; i < 8; i++) {
#pragma acc loop worker reduction(+:t)
    for (j = 0; j < 8; j++) {
#pragma acc loop vector reduction(+:t)
      for (k = 0; k < 8; k++)
        t += i + j + k;
    }
  }
  CHECK_EQ(t, 5 + 3 * 64 * 28);
#pragma acc parallel loop collapse(3) reduction(+:cnt)
  for (i = 0; i < 8; i++)
    for (j = 0; j < 8; j++)
      for (k = 0; k < 8; k++)
        cnt += (i ^ j) == k;
  CHECK_EQ(cnt, 64);
#pragma acc kernels
  {
    d = 0;
#pragma acc loop reduction(+:d)
    for (i = 0; i < N; i++)
      d += 0.25;
    d = d * 2;
#pragma acc loop reduction(+:d)
    for (i = 0; i < N; i++)
      d += 1;
  }
  CHECK_NEAR(d, N * 0.5 + N);
#pragma acc parallel reduction(+:cnt) copyin(i) num_gangs(10)
  {
    int local = 0;
#pragma acc loop gang worker vector
    for (int q = 0; q < 100; q++)
      local += 0;
    cnt += 0 * local;
  }
  CHECK_EQ(cnt, 64);
#pragma acc parallel loop tile(4,4) reduction(+:cnt)
  for (i = 0; i < 10; i++)
    for (j = 0; j < 9; j++)
      cnt++;
  CHECK_EQ(cnt, 154);
  /* in data clause copy explicitly + present */
  int r = 1;
#pragma acc data copy(r)
  {
#pragma acc parallel loop reduction(+:r) present(r)
    for (i = 0; i < 10; i++)
      r += i;
#pragma acc parallel loop reduction(+:r)
    for (i = 0; i < 10; i++)
      r += i;
#pragma acc update self(r)
    CHECK_EQ(r, 91);
  }
  CHECK_EQ(r, 91);
  /* async reduction */
  int ra = 0;
#pragma acc parallel loop reduction(+:ra) async(2)
  for (i = 0; i < 10; i++)
    ra += i;
#pragma acc wait(2)
  CHECK_EQ(ra, 45);
  int rf = 4;
#pragma acc parallel loop reduction(+:rf) if(ra < 0)
  for (i = 0; i < 10; i++)
    rf += i;
  CHECK_EQ(rf, 49);
#pragma acc parallel loop reduction(+:rf) self(ra > 0)
  for (i = 0; i < 10; i++)
    rf += i;
  CHECK_EQ(rf, 94);
}

static void pointers(int *p, double *d, int n) {
  *p = 3;
#pragma acc parallel loop reduction(+:p[0:1])
  for (int i = 0; i < n; i++)
    p[0] += i;
  CHECK_EQ(*p, 3 + n*(n-1)/2);
  for (int i = 0; i < 4; i++)
    d[i] = i;
#pragma acc parallel loop reduction(max:d[1:2])
  for (int i = 0; i < n; i++) {
    d[1] = fmax(d[1], i);
    d[2] = fmax(d[2], -i);
  }
  CHECK_NEAR(d[1], n-1);
  CHECK_NEAR(d[2], 2);
  CHECK_NEAR(d[0], 0);
  int m[3][4] = {{0}};
#pragma acc parallel loop reduction(+:m)
  for (int i = 0; i < n; i++)
    m[i%3][i%4]++;
  int t = 0;
  for (int i = 0; i < 12; i++)
    t += m[i/4][i%4];
  CHECK_EQ(t, n);
  CHECK_EQ(m[0][0], 9);
}

int main(void) {
  int v;
  double d[4];
  boolean();
  enums();
  minmax();
  nested();
  pointers(&v, d, 100);
  return report();
}
