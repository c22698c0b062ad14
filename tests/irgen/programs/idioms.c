#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
/* trickier things */
typedef struct { uint8_t r, g, b; } rgb;
typedef struct { rgb px[2][3]; union { struct { int lo, hi; }; long all; } u; } img;
enum color { RED, GREEN = 5, BLUE };
static int fib(int n) { static int memo[50]; return n < 2 ? n : memo[n] ? memo[n] : (memo[n] = fib(n-1) + fib(n-2)); }
static void fill(int (*a)[4], int n) { for (int i = 0; i < n; i++) for (int j = 0; j < 4; j++) a[i][j] = i * j; }
static long long acc(long long x, ...) { return x; }
static float favg(const float *f, size_t n) { float s = 0.f; for (size_t i = 0; i < n; ++i) s += f[i]; return n ? s / n : 0; }
static char *rev(char *s) { size_t n = strlen(s); for (size_t i = 0, j = n - 1; i < j; i++, j--) { char t = s[i]; s[i] = s[j]; s[j] = t; } return s; }
static int cmpstr(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
static unsigned hash(const char *s) { unsigned h = 5381; int c; while ((c = *s++)) h = ((h << 5) + h) + c; return h; }
struct list { int v; struct list *next; };
static struct list *push(struct list *l, int v) { struct list *n = malloc(sizeof *n); n->v = v; n->next = l; return n; }
static double poly(double x, int n, const double c[static n]) { double r = 0; while (n--) r = r * x + c[n]; return r; }
static int gcd(int a, int b) { while (b) { int t = a % b; a = b; b = t; } return a; }
static int bsearch_(const int *a, int n, int k) { int lo = 0, hi = n - 1; while (lo <= hi) { int mid = lo + (hi - lo) / 2; if (a[mid] == k) return mid; if (a[mid] < k) lo = mid + 1; else hi = mid - 1; } return -lo - 1; }
static int prime(int n) { if (n < 2) return 0; for (int i = 2; i * i <= n; i++) if (n % i == 0) return 0; return 1; }
static void sieve(int n, char *p) { memset(p, 1, n); p[0] = p[1] = 0; for (int i = 2; i * i < n; i++) if (p[i]) for (int j = i * i; j < n; j += i) p[j] = 0; }
static int tokens(const char *s) { int n = 0, in = 0; for (; *s; s++) { if (*s == ' ' || *s == '\t') in = 0; else if (!in) { in = 1; n++; } } return n; }
static int state(const char *s) { int st = 0; for (;;) { switch (st) { case 0: if (*s == 'a') st = 1; else if (*s) return -1; else return 0; break; case 1: if (*s == 'b') { st = 0; break; } if (!*s) goto end; continue_: s++; continue; } s++; } end: return 1; }
int main(void) {
  img im = {.px = {[1] = {{1, 2, 3}, {.g = 9}}}, .u.all = 0x100000002L};
  im.px[0][2].b = im.px[1][1].g++ + im.px[1][0].b--;
  printf("%d %d %d %d %zu\n", im.px[0][2].b, im.px[1][1].g, im.u.lo, im.u.hi, sizeof im);
  printf("%d %d\n", BLUE, fib(40));
  int g[3][4]; fill(g, 3); printf("%d\n", g[2][3]);
  printf("%lld\n", acc(1LL << 40, 2));
  float f[] = {1, 2, 3.5f}; printf("%g\n", favg(f, 3));
  char s[] = "hello"; printf("%s\n", rev(s));
  const char *w[] = {"pear", "apple", "fig"}; qsort(w, 3, sizeof *w, cmpstr); printf("%s %s %s\n", w[0], w[1], w[2]);
  printf("%u\n", hash("openacc"));
  struct list *l = NULL; for (int i = 0; i < 5; i++) l = push(l, i * i);
  int total = 0; while (l) { struct list *n = l->next; total = total * 3 + l->v; free(l); l = n; } printf("%d\n", total);
  double c[] = {1, -2, 3}; printf("%g\n", poly(2, 3, c));
  printf("%d\n", gcd(84, 36));
  int a[] = {1, 3, 5, 7, 9}; printf("%d %d\n", bsearch_(a, 5, 7), bsearch_(a, 5, 4));
  int np = 0; for (int i = 0; i < 100; i++) np += prime(i); printf("%d\n", np);
  char p[200]; sieve(200, p); np = 0; for (int i = 0; i < 200; i++) np += p[i]; printf("%d\n", np);
  printf("%d %d %d\n", tokens(" a bc  d "), state("abab"), state("abx"));
  int x = 8;
  unsigned long long big = 0xffffffffffffffffULL; printf("%llu %lld %d\n", big / 3, (long long)big, (int)(big >> 60));
  signed char sc = -128; sc = -sc; printf("%d %d\n", sc, (unsigned char)~0);
  short sh = 32767; sh++; printf("%d\n", sh);
  int sft = 1 << 31 >> 31; printf("%d\n", sft);
  double dd = 1e300 * 10; float ff = dd; printf("%g %g %d\n", dd, ff, (int)3.99f);
  printf("%d\n", (int)(uint8_t)-1 + (int8_t)200);
  long idx = -1; printf("%d\n", a[2 + idx] + *(a + 4 + idx) + 1[a]);
  int *pp[2] = {a, a + 2}; (*pp[1])++; 
  printf("%d\n", a[3]);
  struct { unsigned x : 1; signed y : 1; } bf; bf.x = 3; bf.y = 1; printf("%d %d\n", bf.x, bf.y);
  int arr2[2][2] = {1, 2, 3}; int (*q)[2] = arr2; printf("%d %d\n", q[1][0], (int)sizeof *q);
  int cond = 5; int r = cond > 3 ? cond < 10 ? 1 : 2 : 3; printf("%d\n", r);
  void *vp = a; printf("%d\n", ((int *)vp)[1]); vp = (char *)vp + 4; printf("%d\n", *(int *)vp);
  int (*fn)(int, int) = gcd; printf("%d %d %d\n", fn(10, 4), (*fn)(9, 6), (**fn)(8, 12));
  for (int i = 0, j = 10; i < j; i += 2, --j) { if (i == 4) continue; printf("%d,%d ", i, j); } puts("");
  int n = 3; do { if (n == 2) continue; printf("n%d ", n); } while (--n); puts("");
  { int i = 5; { int i = 6; printf("%d ", i); } printf("%d\n", i); }
  char buf[100]; int len = sprintf(buf, "%5.2f|%-5d|%05d|%x", 3.14159, 42, 42, 255); printf("%s %d\n", buf, len);
  return !(x == 8 || x == 9);
}
