#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>
#include <limits.h>
#include <float.h>
#include <time.h>
#include <assert.h>
#include <ctype.h>

typedef struct { double x, y, z; } vec3;
typedef enum { RED, GREEN = 5, BLUE } color;
struct node { int v; struct node *next; };
union u { int i; float f; struct { unsigned a:3, b:5; }; };
static int counter;
extern int shared_thing;
int tentative;
int tentative;
int table[] = {1,2,3,[7]=9,[2]=5};
const char *names[] = {"a","bb" "cc", [4]="e"};
vec3 pts[2] = {{1,2,3},{.y=4}};
vec3 flat[2] = {1,2,3,4};
double mat[3][4] = {{1},{[2]=3.0f}, 1,2,3};
char buf[10] = "abc";
char tight[3] = "abc";
wchar_t wide[] = L"wide";
int (*fp)(const char *, ...) = printf;
int *ptr = &table[3];
int diff = (int)sizeof(table)/4;
struct { int a; struct { int b, c; }; union { int d; float e; }; } anon = {1, {2, .c=3}, {.e=4}};
struct flex { int n; double data[]; };
_Static_assert(sizeof(vec3) == 24, "vec3");
_Alignas(64) float aligned[16];

static inline int sq(int x) { return x * x; }
double dot(vec3 a, vec3 b) { return a.x*b.x + a.y*b.y + a.z*b.z; }
vec3 mk(double x) { return (vec3){x, .z = x}; }
int sum(int n, ...) {
  va_list ap; va_start(ap, n); int s = 0;
  for (int i = 0; i < n; i++) s += va_arg(ap, int);
  va_list aq; va_copy(aq, ap); va_end(aq);
  va_end(ap); return s;
}
void matmul(int n, int m, double a[n][m], double b[restrict m][n], double (*c)[n]) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double s = 0;
      for (int k = 0; k < m; ++k) s += a[i][k]*b[k][j];
      c[i][j] = s;
    }
}
int apply(int (*f)(int), int x) { return f(x) + (*f)(x) + (&sq)(x); }
static int cmp(const void *a, const void *b) { return *(const int*)a - *(const int*)b; }
int fact(int n) { return n <= 1 ? 1 : n * fact(n-1); }
void vla(int n) {
  double a[n][n+1]; double (*p)[n+1] = a; typedef double row[n]; row r; row *q = &r;
  size_t s = sizeof a + sizeof(double[n]) + sizeof *p + sizeof(r);
  p[0][1] = s; (*q)[0] = 1; a[1][2] += r[0];
}
const char *where(void) { return __func__; }
int control(int x) {
  static int calls = 3; calls++;
  switch (x) { case 1: case 2: x++; break; case RED: { x = 3; } default: x--; case 'a': x <<= 2; }
  do { if (x > 3) continue; x++; } while (x < 10);
  while (x--) { if (x == 5) goto out; else break; }
  for (;;) { break; }
again: if (x++ < 3) goto again;
out:
  return x;
}
int main(int argc, char **argv) {
  unsigned char uc = 200; short sh = -1; unsigned u = sh; long l = uc << 4; float f = 1.5; uc += 300; f += 1;
  uc = ~uc; bool bb = f; int t = !f && bb || l;
  struct node n1 = {1}, *np = &n1; np->next = &(struct node){2, NULL}; np = np ? np->next : NULL; np = 0;
  union u uu = {.f = 1.0f}; uu.a = 7; uu.b |= 3; uu.a++; int bf = uu.a + uu.b;
  color c = BLUE; c = c + 1;
  int arr[5] = {0}; int *end = arr + 5; ptrdiff_t d = end - arr; end--; *--end = 3; end += 2; int v = 2[arr];
  void *vp = arr; int *ip = vp; char *cp = (char*)vp; uintptr_t up = (uintptr_t)vp;
  double big = DBL_MAX, h = 0x1.8p3, inf = INFINITY, nn = NAN; float huge = 1e10f;
  printf("%d %s %g\n", sum(3,1,2,3), names[0], sqrt(2.0));
  qsort(table, 8, sizeof table[0], cmp);
  fprintf(stderr, "%zu\n", offsetof(struct flex, data) + offsetof(vec3, z));
  memset(buf, 0, sizeof buf); (void)argc; (void)argv[0];
  vec3 a = mk(1), b = a; a = b; double dd = mk(2).z + dot(a,b);
  t = (1, 2, 3); l = t ? 1 : 2L; t = 07 + 0b11 + 0xffu + 1ull; 
  int big2 = INT_MAX; long long ll = LLONG_MIN; 
  assert(t > 0); 
  char ch = 'x'; ch = toupper(ch); ch = '\n' + '\x41' + '\0';
  struct flex *fx = malloc(sizeof *fx + 10*sizeof(double)); fx->data[3] = 1; free(fx);
  anon.b = anon.d; 
  { int x = 1; { float x = 2; x++; } x++; }
  for (int i = 0, j = 10; i < j; i++, j--) ;
  return isnan(nn) + isinf(inf) + EXIT_SUCCESS;
}
