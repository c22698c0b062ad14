/* Atomics: every operator, type and form. Prints what serial C prints. */
#include <stdio.h>
#include <stdbool.h>
#define N 500
struct S { int n; double d[3]; };
int main(void) {
  int i = 0, x = 0, v[N], h[16] = {0}; unsigned u = 0xffffffffu; long l = 1; float f = 0; double d = 0; short sh = 0; char c = 0; unsigned char uc = 0; long long ll = 0; struct S s = {0}; int *p = h; bool b = false;
#pragma acc parallel loop copy(x, h, u, l, f, d, sh, c, uc, ll, s)
  for (int i = 0; i < N; i++) {
#pragma acc atomic
    x++;
#pragma acc atomic update
    h[i % 16] += i;
#pragma acc atomic update
    u &= ~(1u << (i % 20));
#pragma acc atomic
    l ^= i;
#pragma acc atomic
    f += 0.5f;
#pragma acc atomic
    d = d + i;
#pragma acc atomic
    sh = 3 + sh;
#pragma acc atomic
    c -= 1;
#pragma acc atomic
    uc |= i & 64;
#pragma acc atomic
    --ll;
#pragma acc atomic
    s.n += 2;
#pragma acc atomic
    s.d[i % 3] -= 1.5;
  }
  printf("%d %u %ld %g %g %d %d %d %lld %d %g\n", x, u, l, f, d, sh, c, uc, ll, s.n, s.d[2]);
  for (int i = 0; i < 16; i++) printf("%d ", h[i]); puts("");
  int cnt = 0; static int idx[N]; double prod = 1; int sub = 1000; unsigned shl = 1;
#pragma acc parallel loop copy(cnt, prod, sub, shl) copyout(idx, v)
  for (int i = 0; i < N; i++) {
    int k;
#pragma acc atomic capture
    k = cnt++;
    idx[k] = i;
    int o;
#pragma acc atomic capture
    { sub = sub - 2; o = sub; }
    v[i] = o;
#pragma acc atomic
    prod *= 1.0;
    if (i < 4) {
#pragma acc atomic
      shl <<= 1;
    }
  }
  long s1 = 0, s2 = 0; for (int i = 0; i < N; i++) { s1 += idx[i]; s2 += v[i]; } printf("%d %ld %ld %g %u\n", cnt, s1, s2, prod, shl);
  int y = 0, written = 0, added = 3, ored = 8, anded = 15, up = 0, down = 0; int w[N];
#pragma acc parallel loop copy(y, written, added, ored, anded, up, down) copyout(w)
  for (int i = 0; i < N; i++) {
    int t, old;
#pragma acc atomic write
    y = 42;
#pragma acc atomic read
    t = y;
    w[i] = t;
#pragma acc atomic capture
    { old = written; written = 5; }
    w[i] += old == 0 || old == 5;
#pragma acc atomic capture
    { old = added; added += 0; }
    w[i] += old;
#pragma acc atomic capture
    { ored |= 1; old = ored; }
    w[i] += old;
#pragma acc atomic capture
    old = anded &= 7;
    w[i] += old;
#pragma acc atomic capture
    old = ++up;
    w[i] += old;
#pragma acc atomic capture
    old = down--;
    w[i] += old;
  }
  s1 = 0; for (int i = 0; i < N; i++) s1 += w[i]; printf("%d %d %d %d %d %d %d %ld\n", y, written, added, ored, anded, up, down, s1);
  int q = 100; double dv = 1e6; int mn = 100, r = 3;
#pragma acc parallel loop copy(q, dv, r) 
  for (int i = 0; i < 6; i++) {
#pragma acc atomic
    q = q / 2;
#pragma acc atomic
    dv /= 10;
#pragma acc atomic if(i < 100)
    r = r ^ i;
  }
  printf("%d %g %d\n", q, dv, r);
  return 0;
}
