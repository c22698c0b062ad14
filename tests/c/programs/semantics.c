#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdarg.h>
#include <stdint.h>
#include <math.h>
#include <stddef.h>
typedef struct { double x, y, z; } vec3;
typedef enum { RED, GREEN = 5, BLUE } color;
struct node { int v; struct node *next; };
union u { int i; float f; struct { unsigned a:3, b:5; }; };
struct bits { int a:3; unsigned b:5; long c:40; unsigned char d:1; };
int table[] = {1,2,3,[7]=9,[2]=5};
const char *names[] = {"a","bb" "cc", [4]="e"};
vec3 flat[2] = {1,2,3,4};
double mat[3][4] = {{1},{[2]=3.0f}, 1,2,3};
char buf[10] = "abc";
char tight[3] = "abc";
int *ptr = &table[3];
struct { int a; struct { int b, c; }; union { int d; float e; }; } anon = {1, {2, .c=3}, {.e=4}};
static int sq(int x) { return x * x; }
int (*fp)(int) = sq;
vec3 mk(double x) { return (vec3){x, .z = x}; }
double dot(vec3 a, vec3 b) { return a.x*b.x + a.y*b.y + a.z*b.z; }
int sum(int n, ...) {
  va_list ap; va_start(ap, n); int s = 0;
  for (int i = 0; i < n; i++) { s += va_arg(ap, int); s += (int)va_arg(ap, double); }
  va_end(ap); return s;
}
void matmul(int n, int m, double a[n][m], double b[m][n], double (*c)[n]) {
  for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) { double s = 0; for (int k = 0; k < m; ++k) s += a[i][k]*b[k][j]; c[i][j] = s; }
}
static int cmp(const void *a, const void *b) { return *(const int*)a - *(const int*)b; }
int control(int x) {
  static int calls = 3; calls++;
  switch (x) { case 1: case 2: x++; break; case RED: { x = 3; } default: x--; case 'a': x <<= 2; }
  do { if (x > 3) { x += 2; continue; } x++; } while (x < 10 && x > 0);
  while (x--) { if (x == 5) goto out; else if (x < 3) break; }
again: if (x++ < 3) goto again;
out: return x * 100 + calls;
}
double vla(int n) { typedef double row[n]; row r; double a[n][n+1]; double (*p)[n+1] = a; for (int i=0;i<n;i++) { r[i]=i; for (int j=0;j<=n;j++) p[i][j] = i*10+j; } n = 100;
  return r[2] + a[1][2] + sizeof a + sizeof(row) + sizeof *p + (&a[1][0]-&a[0][0]); }
int main(void) {
  unsigned char uc = 200; short sh = -1; unsigned u = sh; long l = uc << 4; float f = 1.5; uc += 300; f += 1;
  printf("%d %d %u %ld %g\n", uc, sh, u, l, f); uc = ~uc; _Bool b = f; printf("%d %d %d\n", uc, b, !f && b);
  struct node n2 = {2, NULL}, n1 = {1, &n2}, *np = &n1; printf("%d\n", np->next->v);
  union u uu = {.f = 1.0f}; uu.a = 7; uu.b |= 3; uu.a++; printf("%x %d %d\n", uu.i, uu.a, uu.b);
  struct bits bb = {-1, 31, -5, 1}; bb.a++; bb.b += 2; bb.c *= 3; bb.d = 2; printf("%d %d %ld %d %zu\n", bb.a, bb.b, (long)bb.c, bb.d, sizeof bb);
  int arr[5] = {4,2,5,1,3}; qsort(arr, 5, sizeof *arr, cmp); for (int i = 0; i < 5; i++) printf("%d ", arr[i]); puts("");
  int *end = arr + 5; ptrdiff_t d = end - arr; printf("%td %d %d\n", d, *--end, 2[arr]);
  for (int i = 0; i < 8; i++) printf("%d ", table[i]); printf("%s %s %p\n", names[1], names[4], (void*)names[2]);
  printf("%g %g %g %g %s %c %d\n", flat[1].x, mat[1][2], mat[2][2], mat[0][0], buf, tight[2], *ptr);
  printf("%d %d %d %g\n", anon.a, anon.b, anon.c, anon.e);
  printf("%d %d %d\n", fp(3), (*fp)(4), (&sq)(5)); vec3 a = mk(2), c = a; c.y = 1; printf("%g %g\n", dot(a, c), mk(3).z);
  printf("%d\n", sum(2, 1, 2.5, 3, 4.5)); for (int i = -1; i < 5; i++) printf("%d ", control(i)); printf("%d\n", control('a'));
  double x[2][3] = {{1,2,3},{4,5,6}}, y[3][2] = {1,2,3,4,5,6}, z[2][2]; matmul(2, 3, x, y, z); printf("%g %g %g %g\n", z[0][0], z[0][1], z[1][0], z[1][1]);
  printf("%g\n", vla(4)); printf("%d %d\n", -7 / 2, -7 % 3); printf("%u %lu\n", -1 / 2u, (unsigned long)-1 >> 60);
  printf("%d %d\n", 5 > 3u, -1 < 1u); long long ll = 1LL << 40; printf("%lld %d\n", ll, (int)(ll >> 38)); int t = (1, 2, 3); printf("%d\n", t ? t : 7);
  float ff = 16777217; double dd = 0.1f; printf("%.9g %.17g\n", ff, dd); char ch = 'x'; ch -= 32; printf("%c%c\n", ch, "hello"[1]);
  color k = BLUE; k = k + 1; printf("%d %zu %zu\n", k, sizeof(union u), offsetof(vec3, z)); int i = 5; i = i++ + ++i > 0 ? -i : i; 
  unsigned short us = 65535; us++; printf("%d\n", us); int sh2 = -8 >> 1; printf("%d %u\n", sh2, 0x80000000u >> 31);
  printf("%s\n", __func__); printf("%Lg\n", 1.5L * 2); struct { char s[8]; } st = {"hi"}, st2 = st; st2.s[0] = 'H'; printf("%s %s\n", st.s, st2.s);
  vec3 *vp = &(vec3){7,8,9}; printf("%g\n", vp->y); int (*ops[2])(int) = {sq, fp}; printf("%d\n", ops[1](6)); uint8_t u8 = 255; u8 <<= 1; printf("%d %d\n", u8, (int8_t)200);
  return 0;
}
