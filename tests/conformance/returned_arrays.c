/* Array members of structures that are values: objects with temporary lifetime (C11 6.2.4p8). */
#include "check.h"
#include <stdarg.h>

typedef struct { int a[3]; struct { double d[2]; } in[2]; char name[8]; } S;
typedef union { int w[2]; char b[8]; } U;
typedef struct { int n; float m[5][4]; } Large;
static const S one = {{1, 2, 3}, {{{4, 5}}, {{6, 7}}}, "hello"};
static int calls;

static S f(int k) { S r = one; r.a[1] = k; return r; }
static S counted(void) { calls++; return one; }
static U both(int k) { U r; r.w[0] = k; r.w[1] = k + 1; return r; }
static Large large(int k) {
  Large r = {k};
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 4; j++) r.m[i][j] = k + i * 4 + j;
  return r;
}
static int recursive(int n) { return n ? (int)large(n).m[1][2] + recursive(n - 1) : 0; }
static int argument(int n, ...) {
  va_list list;
  va_start(list, n);
  int r = va_arg(list, S).a[n];
  va_end(list);
  return r;
}

int main(void) {
  int k = 1, sum = 0, out[8];
  S s;
  CHECK(f(9).a[k] == 9 && f(8).a[0] == 1 && f(7).in[1].d[k] == 7 && *f(6).a == 1);
  CHECK((k ? f(3) : f(4)).a[1] == 3 && (s = f(5)).a[1] == 5 && (k++, f(6)).a[1] == 6 && s.a[1] == 5);
  CHECK(strcmp(f(1).name, "hello") == 0 && sizeof f(1).name == 8 && ({ f(11); }).a[1] == 11);
  CHECK(both(3).w[1] == 4 && both(4).b[0] == 4 && argument(2, one) == 3);
  CHECK(large(3).m[2][k] == 13 && recursive(4) == 34);
  for (int i = 0; i < 3; i++) sum += *(f(i).a + i) * counted().a[i];
  CHECK(sum == 1 + 2 + 9 && calls == 3);
#pragma acc parallel loop copyout(out)
  for (int i = 0; i < 8; i++) out[i] = f(i).a[1] + (int)large(i).m[i % 5][i % 4] + both(i).w[1];
  for (int i = 0; i < 8; i++) CHECK(out[i] == i + (i + i % 5 * 4 + i % 4) + i + 1);
#pragma acc parallel loop gang copyout(out)
  for (int i = 0; i < 8; i++) {
    int z = 0;
#pragma acc loop vector reduction(+ : z)
    for (int j = 0; j < 20; j++) z += large(i + j).m[j % 5][j % 4];
    out[i] = z;
  }
  for (int i = 0; i < 8; i++) CHECK(out[i] == 20 * i + 190 + 190);
  return report();
}
