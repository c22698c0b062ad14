#include <stdio.h>
/* random nasties in structured SSA: conditionally assigned in && and ?: within loops, nested */
static int side = 0;
static int f(int x) { side += x; return x > 2; }
int main(void) {
  int a = 1, b = 2, c = 3, d, guard = 0;
  for (int i = 0; i < 5; i++) {
    if ((a = f(i)) && (b = b + f(i + 1))) c += a; else { int t = c; c = b; b = t; }
    d = a ? (b++, c) : (c--, b);
    while (d > 3 && (d -= 2)) { if (d % 2) { a += d; } else if (d == 4) continue; b ^= d; }
    do { c ^= i; int k = c; if (k & 1) { k = 0; c += k; } else c++; } while (c < 2 * i && ++guard < 50);
    printf("%d %d %d %d %d\n", a, b, c, d, side);
  }
  int x; int n = 4; if (n) { if (n > 2) x = n; else x = 1; for (int q = 0; q < n; q++) { if (q == 1) x += 2; else { int y = x; y *= 2; if (y > 10) x = y - 3; } } } else x = 0;
  printf("%d\n", x);
  int p = 0, q = 0;
  for (p = 0; p < 3; p++) for (q = p; q < 3; q++) side += p * q;
  printf("%d %d %d\n", p, q, side);
  int i, found = 0;
  for (i = 0; i < 10 && !found; i++) if (i * i > 20) found = i;
  printf("%d %d\n", i, found);
  for (int r = 0; r < 3; r++) { int z = r; switch (z) { case 1: z = 10; case 2: z++; } int w = z; while (1) { w++; if (w > 12) break; z += w; } printf("%d %d ", z, w); }
  puts("");
  unsigned long long h = 1469598103934665603ull; for (const char *s = "abc"; *s; ++s) { h ^= (unsigned char)*s; h *= 1099511628211ull; } printf("%llx\n", h);
  double m = 0; int steps = 0; for (double v = 0.1; v < 1; v += 0.1) { m = m > v ? m : v; steps++; } printf("%.2f %d\n", m, steps);
  volatile int vv = 3; while (vv-- > 0) side++; printf("%d %d\n", vv, side);
  int e = 0; e += e++ ? 1 : 2; 
  int neg = -17; printf("%d %d %u\n", neg / 4, neg % 4, (unsigned)neg % 10u);
  long big = 1; for (int s = 0; s < 40; s++) big <<= 1; printf("%ld\n", big);
  for (int s = 10; s --> 7;) printf("%d", s); puts("");
  char *names[] = {"x", "y", 0}; for (char **np = names; *np; np++) printf("%s", *np); puts("");
  goto skip; { int hidden; skip: hidden = 5; printf("%d\n", hidden); }
  return found;
}
