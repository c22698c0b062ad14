/* Atomics on members, elements, globals and through pointers, in routines, at each level, of all types. */
#include "check.h"
#include <stdbool.h>
#include <complex.h>
#define N 64
enum e {
  A, B = 7
};
struct s {
  int a;
  struct {
    double d;
    float f[4];
  } in;
};
static int g;
#pragma acc declare create(g)
#pragma acc routine seq
static int bump(int *p) {
  int v;
#pragma acc atomic capture
  v = (*p)++;
  return v;
}

#pragma acc routine seq
static void bumpg(void) {
#pragma acc atomic
  g += 2;
}

int main(void) {
  int i, x = 0, *px = &x, hist[8] = {0}, order[N], m[4][4] = {{0}};
  struct s st = {0}, arr[3];
  bool fl = false;
  enum e en = A;
  char c = 0;
  _Bool ok[N];
  memset(arr, 0, sizeof arr);
#pragma acc parallel loop copy(px[0:1])
  for (i = 0; i < N; i++) {
#pragma acc atomic
    *px += i;
  }
  CHECK_EQ(x, N*(N-1)/2);
#pragma acc parallel loop copy(hist, st, arr, m)
  for (i = 0; i < N; i++) {
#pragma acc atomic update
    hist[i & 7]++;
#pragma acc atomic
    st.in.f[i % 4] += 0.5f;
#pragma acc atomic
    st.in.d -= i;
#pragma acc atomic
    (arr + i % 3)->a = (arr + i % 3)->a + 1;
#pragma acc atomic
    m[i % 4][i / 16]++;
  }
  for (i = 0; i < 8; i++)
    CHECK_EQ(hist[i], 8);
  CHECK_NEAR(st.in.f[2], 8);
  CHECK_NEAR(st.in.d, -N*(N-1)/2);
  CHECK_EQ(arr[0].a, 22);
  CHECK_EQ(m[3][3], 4);
  x = 0;
#pragma acc parallel loop copy(x) copyout(order)
  for (i = 0; i < N; i++)
    order[i] = bump(&x);
  CHECK_EQ(x, N);
  {
    int s = 0;
    for (i = 0; i < N; i++)
      s += order[i];
    CHECK_EQ(s, N*(N-1)/2);
  }
#pragma acc update device(g)
#pragma acc parallel loop
  for (i = 0; i < N; i++)
    bumpg();
#pragma acc update self(g)
  CHECK_EQ(g, 2 * N);
#pragma acc parallel loop copy(fl, en, c)
  for (i = 0; i < N; i++) {
#pragma acc atomic write
    fl = i >= 0;
#pragma acc atomic write
    en = B;
#pragma acc atomic write
    c = 'z';
  }
  CHECK(fl && en == B && c == 'z');
  x = 5;
#pragma acc parallel loop copy(x) copyout(ok, order)
  for (i = 0; i < N; i++) {
    int v;
    double w;
#pragma acc atomic read
    v = x;
#pragma acc atomic read
    w = x;
    ok[i] = v == 5 && w == 5.0;
    order[i] = v;
  }
  for (i = 0; i < N; i++)
    CHECK(ok[i]);
  /* mixed types of expression */
  float f = 0;
  double d = 1;
  long l = 0;
  unsigned char uc = 250;
#pragma acc parallel loop copy(f, d, l, uc)
  for (i = 0; i < 10; i++) {
#pragma acc atomic
    f += 1;
#pragma acc atomic
    d = d * 2;
#pragma acc atomic
    l += 1.9;
#pragma acc atomic
    uc += 1;
  }
  CHECK_NEAR(f, 10);
  CHECK_NEAR(d, 1024);
  CHECK_EQ(l, 10);
  CHECK_EQ(uc, 4);
  /* expressions with function calls and precedence */
  x = 100;
#pragma acc parallel loop copy(x)
  for (i = 0; i < 4; i++) {
#pragma acc atomic
    x = x - (i + 1) * 2;
#pragma acc atomic
    x -= i - 1;
#pragma acc atomic
    x = (i > 0 ? i : 0) + x;
  }
  CHECK_EQ(x, 100 - 20 - 2 + 6);
  /* host atomics */
#pragma acc atomic
  x++;
#pragma acc atomic capture
  {
    i = x;
    x = 3;
  }
  CHECK_EQ(i, 85);
  CHECK_EQ(x, 3);
  /* if clause */
  int on = 1, off = 0, y = 0;
#pragma acc parallel loop copy(y) firstprivate(on, off)
  for (i = 0; i < N; i++) {
#pragma acc atomic update if(on)
    y += 1;
#pragma acc atomic read if(on == 1)
    on = on;
  }
  CHECK_EQ(y, N);
#pragma acc serial copy(y)
  {
#pragma acc atomic if(off)
    y--;
#pragma acc atomic capture if(off)
    {
      i = y;
      y--;
    }
#pragma acc atomic write if(off)
    y = 9;
  }
  CHECK_EQ(y, 9);
  /* atomics at gang, worker, vector levels */
  int cg = 0, cw = 0, cv = 0;
#pragma acc parallel num_gangs(4) num_workers(2) vector_length(32) copy(cg, cw, cv)
  {
#pragma acc loop gang
    for (int a = 0; a < 8; a++) {
#pragma acc atomic
      cg++;
#pragma acc loop worker
      for (int b = 0; b < 4; b++) {
#pragma acc atomic
        cw++;
#pragma acc loop vector
        for (int q = 0; q < 40; q++) {
#pragma acc atomic
          cv++;
        }
      }
    }
  }
  CHECK_EQ(cg, 8);
  CHECK_EQ(cw, 32);
  CHECK_EQ(cv, 1280);
  /* min/max? x = x op expr only; ok with pointers */
  int *tab[2] = {hist, hist + 4};
  (void)tab;
  double complex z = 0;
  (void)z;
  return report();
}
