/* Extensions of GNU C, and definitions in the style of before 1989. */
#include <stdio.h>
#include <complex.h>
#define N 64
enum { A, B, C, D, E };
static const double wt[9] = { 4. / 9, [1 ... 4] = 1. / 9, [5 ... 8] = 1. / 36 };
static int grid[4][4] __attribute__((aligned(64))) = { [0 ... 3] = { [1 ... 2] = 7 } };
static double buf[N] __attribute__((aligned(64)));
struct p { int x, y; };
static struct p ps[5] = { [2 ... 3].x = 4, [4] = { 1, 2 } };
double __attribute__((aligned(32))) d2;
int area(w, h) int w; int h; { return w * h; }
double dotk(n, a, b)
  int n; double *a, b[];
{ double s = 0; int i; for (i = 0; i < n; i++) s += a[i] * b[i]; return s; }
noise() { return 3; }
static int kind(int c) { switch (c) { case '0' ... '9': return 1; case 'a' ... 'f': case 'A' ... 'F': return 2; default: return 0; } }
#define SWAP(a, b) do { __typeof__(a) t = (a); (a) = (b); (b) = t; } while (0)
static void unchecked(text, n) char *text; long n; { printf("%ld %d\n", n != 0, text != 0); }
int main(void) {
  double complex turn[3]; float complex half = 0.5fI;
#pragma acc parallel loop copyout(turn)
  for (int i = 0; i < 3; i++) turn[i] = i * 2.0i + 1i * 3;
  printf("%g %g %g\n", creal(turn[2]), cimag(turn[2]), cimagf(half)); unchecked("x", "y"); unchecked(1L, 0);
  float x = 1, y = 2; SWAP(x, y); typeof(int *) q = &grid[0][0]; __typeof__(wt[0]) z = 0.5; typeof(x + 1.0) w = 0.1;
  int k[256] = { [0 ... 255] = 1 };
#pragma acc parallel loop copy(k, buf) copyin(wt, ps)
  for (int i = 0; i < 256; i++) { k[i] += kind(i) + ps[i % 5].x; typeof(k[0]) t = i; if (i < N) { double a = wt[i % 9], b = 1; SWAP(a, b); buf[i] = a + b; } k[i] += t; }
  int s = 0; for (int i = 0; i < 256; i++) s += k[i] * (i % 3); 
  printf("%g %g %d %g %g %d %d %d %.6f %d %d %d\n", x, y, *q, z, w, grid[3][2], s, area(3, 4), buf[7] + dotk(3, buf, (double *)wt), noise(), ps[3].x, ((unsigned long)grid % 64) == 0); return 0; }
