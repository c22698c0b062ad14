/* Letters beyond ASCII, universal character names and $ in identifiers (C11 6.4.2.1, 6.4.3 and annex D). */
#include <stdio.h>
#define Größe 16
#define QUOTE(x) #x
#define verdopple(ξ) ((ξ) * 2)
#define für(ι, n) for (int ι = 0; ι < n; ι++)
struct Maße { double länge; int \u00e9tage; };
static double σ[Größe], 名前[Größe];
int $dollar = 3, a$b = 4, dev$ = 0;
#pragma acc declare copyin(dev$)
enum { Ω = 5, e\u0301 = 6 };
typedef double größe_t;
#pragma acc routine seq
größe_t flächeninhalt(größe_t λ, größe_t β) { return λ * β; }
static void füllen(int n) {
#pragma acc parallel loop copyout(σ[0:n], 名前)
  für(ι, n) { σ[ι] = ι; 名前[ι] = verdopple(ι); }
}
int main(void) {
  struct Maße m = {2.5, 7};
  double α = 2, Δt = 0.5, x[Größe], summe$ = 0;
  füllen(Größe);
#pragma acc parallel loop copyout(x) firstprivate(\u03b1, Δt) copyin(σ, m) reduction(+:summe$)
  for (int i = 0; i < Größe; i++) { x[i] = α * i + Δt + flächeninhalt(σ[i], m.länge) + $dollar + a$b + dev$; summe$ += x[i] + \U000003A9 + e\u0301; }
  double expected = 0; int bad = 0;
  für(i, 2) α += 1; // a name after an expanded macro
  for (int i = 0; i < Größe; i++) { double v = 2. * i + .5 + i * 2.5 + 7; bad += x[i] != v; expected += v + 11; bad += 名前[i] != 2 * i; }
  bad += expected != summe$ || α != 4 || m.étage != 7;
  goto größer;
größer:
  printf("%s %s\n", bad ? "wrong" : "OK", QUOTE(größer α));
  return bad != 0;
}
