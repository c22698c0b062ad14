/* Statement expressions of GNU C: in host code, kernels, conditions, of every kind of type. */
#include <stdio.h>
#include <stdlib.h>
#define max(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })
#define CHECK(x) ({ int r_ = (x); if (r_ < 0) { fprintf(stderr, "bad\n"); exit(1); } r_; })
#define SUM(p, n) ({ double s_ = 0; for (int i_ = 0; i_ < (n); i_++) s_ += (p)[i_]; s_; })
struct pt { int x, y; };
static int g(int x) { return x * 2; }
int main(void) {
  int n = CHECK(g(10)); double a[20]; int m = 0; struct pt p = ({ struct pt q = { 1, n }; q; }), w; w = ({ struct pt q = p; q.x++; q; }); printf("%d %d\n", w.x, ({ struct pt q = w; q.x = 9; q; }).x);
  for (int i = 0; i < n; i++) a[i] = max(i, 7) + max(2.5, i * 0.3);
#pragma acc parallel loop copy(a) reduction(max:m)
  for (int i = 0; i < n; i++) { a[i] = max(a[i], max(3.0, (double)i)); m = max(m, ({ int t = i * i; t % 13; })); while (({ a[i] -= 1; a[i] > 5; })) ; a[i] += i % 2 ? ({ int k = i; k += 2; k; }) : ({ 7; }); }
  ({ m++; });
  printf("%d %g %g %d %d %g\n", n, SUM(a, n), a[13], m, p.y, max(1.5, max(2, 3)));
  return ({ int z = 3; z - 3; });
}
