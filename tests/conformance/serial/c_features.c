/* C in regions: switch, goto, structures, unions, bit-fields, recursion, pointers, mathematics. Prints what serial C prints. */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <stdint.h>
#include <stdbool.h>
#include <string.h>
typedef struct { int x, y; double w[3]; } P;
typedef union { float f; uint32_t u; unsigned char b[4]; } U;
struct bits { unsigned a:3; int b:5; unsigned c:24; unsigned long d:40; };
enum color { RED, GREEN = 5, BLUE };
static inline int sq(int x) { return x*x; }
#pragma acc routine seq
static P mk(int i) { P p = {i, -i, {i*0.5, i*1.5, 2}}; return p; }
#pragma acc routine seq
static double sumP(P p) { return p.x + p.y + p.w[0] + p.w[1] + p.w[2]; }
#pragma acc routine seq
int collatz(long n) { int c = 0; while (n != 1) { n = (n & 1) ? 3*n+1 : n/2; c++; } return c; }
#pragma acc routine seq
int fib(int n) { return n < 2 ? n : fib(n-1) + fib(n-2); }
#define N 64
int main(void) {
  int a[N], b[N]; double d[N]; P ps[N], qs[N]; U us[N]; struct bits bs[N];
  memset(bs, 0, sizeof bs);
  // switch, fallthrough, default in the middle
#pragma acc parallel loop copyout(a)
  for (int i = 0; i < N; i++) {
    int r = 0;
    switch (i % 7) { case 0: r = 1; break; case 1: r = 2; case 2: r += 10; break; default: r = 99; break; case 5: { int k = i; while (k > 0) { k -= 3; if (k == 5) break; r++; } } }
    a[i] = r;
  }
  for (int i = 0; i < N; i++) printf("%d ", a[i]); puts("");
  // goto, do-while, continue
#pragma acc parallel loop copyout(a, b)
  for (int i = 0; i < N; i++) {
    int s = 0, j = 0;
  again:
    s += j; j++;
    if (j < i % 5) goto again;
    do { if (s > 20) goto out; s++; if (s % 3 == 0) continue; j += 2; } while (j < 10);
  out:
    a[i] = s; b[i] = j;
    for (int k = 0;; k++) { if (k == 3) continue; if (k > 6) break; b[i] += k; }
  }
  for (int i = 0; i < N; i++) printf("%d,%d ", a[i], b[i]); puts("");
  // structs by value, copies, compound literals, designated inits, ternaries, comma
#pragma acc parallel loop copyout(ps, qs, d)
  for (int i = 0; i < N; i++) {
    P t = mk(i);
    ps[i] = t;
    qs[i] = (P){.y = i, .x = 2*i, .w = {[1] = 3.5}};
    t = i & 1 ? qs[i] : ps[i];
    d[i] = (t.w[1] += 1, sumP(t)) + sq(i) + (i > 3 ? i < 9 ? 1 : 2 : 3);
    P *pp = &t; pp->x++; (*pp).w[i % 3] *= 2; d[i] += pp->x + t.w[i%3];
  }
  for (int i = 0; i < N; i++) printf("%g %d %g ", d[i], ps[i].x, qs[i].w[1]); puts("");
  // unions, bitfields, bool, shifts, enums, char arithmetic
#pragma acc parallel loop copyout(us) copy(bs) copyout(a,b)
  for (int i = 0; i < N; i++) {
    U u; u.f = i * 1.25f; u.b[0] ^= 1; us[i] = u;
    bs[i].a = i; bs[i].b = i - 40; bs[i].c = i * 1000003u; bs[i].d = (unsigned long)i << 33; bs[i].a++; bs[i].c += 5;
    bool t = i & 4; enum color c = t ? BLUE : GREEN; signed char sc = i * 5; unsigned char uc = i * 5; short sh = i * 1500; 
    a[i] = c + t + sc + (uc >> 1) + (sc >> 1) + sh + !i + ~i + -i + +i;
    b[i] = (i << 3 | 5) ^ (i & 12) ; b[i] %= 17; b[i] <<= 2; b[i] -= (int)3.7f * i; b[i] = b[i] > 5 && i != 12 || !t;
  }
  for (int i = 0; i < N; i++) printf("%08x %d %d %d %lu %d %d\n", us[i].u, bs[i].a, bs[i].b, bs[i].c, (unsigned long)bs[i].d, a[i], b[i]);
  // recursion, long loops, while with side effects
#pragma acc parallel loop copyout(a, b)
  for (int i = 0; i < N; i++) { a[i] = collatz(i + 1); b[i] = fib(i % 12); }
  for (int i = 0; i < N; i++) printf("%d %d ", a[i], b[i]); puts("");
  // pointers: arithmetic, difference, to local arrays, to struct members; sizeof; strings
  const char *msg = "hello";
#pragma acc parallel loop copyout(a) copyin(msg[0:6])
  for (int i = 0; i < N; i++) {
    int loc[8]; int *p = loc, *e = loc + 8;
    for (int k = 0; p < e; p++, k++) *p = k * i;
    p = &loc[i % 8]; int *q = loc + 2;
    a[i] = *p + (int)(p - q) + q[-1] + (int)sizeof(loc) + msg[i % 5] + (p > q) + "xyz"[i%3];
    int (*row)[4] = (int(*)[4])loc; a[i] += row[1][i % 4];
    int **pp = &p; **pp = 7; a[i] += loc[i % 8];
  }
  for (int i = 0; i < N; i++) printf("%d ", a[i]); puts("");
  // math
#pragma acc parallel loop copyout(d)
  for (int i = 0; i < N; i++) d[i] = sqrt(i) + pow(i, 1.5) + fabs(-i) + floor(i/3.) + fmod(i, 3.5) + (i ? log(i) : 0) + fmin(i, 3) + fmaxf(i, 2.f) + cbrt(i) + hypot(i, 2) + abs(i-30) + labs(-(long)i) + (double)llabs(i-9) + copysign(1, -i) + trunc(i/7.) + lrint(i/2.0) + round(i/2.0) + ceil(i/9.);
  for (int i = 0; i < N; i++) printf("%.6f ", d[i]); puts("");
  return 0;
}
