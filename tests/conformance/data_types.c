/* Data clauses, private and firstprivate with scalars, arrays and pointers of every type. */
#include "check.h"
#include <openacc.h>
#include <stdbool.h>
#include <complex.h>
#include <stdint.h>
#define N 33
#define P(t) _Pragma(#t)
typedef struct {
  int a;
  double b;
  char c[3];
} S;
enum E {
  E0, E1, E2, E9 = 9
};
/* MK makes a value of type T from an int, GET an int from a value. */
#define ALL(T, X, MK, GET) \
static void data_##X(void) { \
  T a[N], b[N], c[N], s, t, *p = malloc(N * sizeof(T)), *q = malloc(N * sizeof(T)); int i; \
  for (i = 0; i < N; i++) { a[i] = MK(i % 2); p[i] = MK(i % 3 == 1); b[i] = MK(1); c[i] = MK(0); q[i] = MK(1); } s = MK(1); t = MK(0); \
  P(acc parallel loop copyin(a) copyout(b) create(c) copyin(p[0:N]) copyout(q[0:N])) \
  for (i = 0; i < N; i++) { c[i] = a[i]; b[i] = c[i]; q[i] = p[i]; } \
  for (i = 0; i < N; i++) { CHECK_EQ(GET(b[i]), GET(a[i])); CHECK_EQ(GET(q[i]), GET(p[i])); } \
  P(acc parallel num_gangs(1) copyin(s) copyout(t)) t = s; \
  CHECK_EQ(GET(t), GET(s)); \
  P(acc data copy(a[0:N/2], p[3:N-3]) copyin(s)) { \
    P(acc parallel loop present(a[0:N/2])) for (i = 0; i < N/2; i++) a[i] = s; \
    P(acc parallel loop present(p[3:4])) for (i = 3; i < 7; i++) p[i] = s; \
    P(acc update self(p[3:2])) CHECK_EQ(GET(p[4]), GET(s)); } \
  for (i = 0; i < N; i++) CHECK_EQ(GET(a[i]), i < N/2 ? GET(s) : GET(MK(i % 2))); \
  for (i = 0; i < N; i++) CHECK_EQ(GET(p[i]), i >= 3 && i < 7 ? GET(s) : GET(MK(i % 3 == 1))); \
  P(acc parallel loop firstprivate(s, a) copyout(b)) for (i = 0; i < N; i++) { b[i] = i % 4 ? s : a[i]; } \
  for (i = 0; i < N; i++) CHECK_EQ(GET(b[i]), i % 4 ? GET(s) : GET(a[i])); \
  P(acc parallel loop private(t, c) copyin(a) copyout(b)) for (i = 0; i < N; i++) { t = a[i]; c[i % 4] = t; b[i] = c[i % 4]; } \
  for (i = 0; i < N; i++) CHECK_EQ(GET(b[i]), GET(a[i])); \
  P(acc kernels copyin(a) copyout(b)) for (i = 0; i < N; i++) b[i] = a[N - 1 - i]; \
  for (i = 0; i < N; i++) CHECK_EQ(GET(b[i]), GET(a[N-1-i])); \
  P(acc serial copyin(a) copyout(b)) for (i = 0; i < N; i++) b[i] = a[i]; \
  for (i = 0; i < N; i++) CHECK_EQ(GET(b[i]), GET(a[i])); \
  P(acc enter data copyin(a, p[0:N]) create(b)) \
  P(acc parallel loop default(present)) for (i = 0; i < N; i++) b[i] = i % 2 ? a[i] : p[i]; \
  P(acc exit data copyout(b[0:N]) delete(a[0:N], p)) \
  for (i = 0; i < N; i++) CHECK_EQ(GET(b[i]), i % 2 ? GET(a[i]) : GET(p[i])); \
  P(acc parallel loop copyout(zero: b) if(N > 2)) for (i = 0; i < 1; i++) ; \
  for (i = 0; i < N; i++) CHECK_EQ(GET(b[i]), 0); \
  T *d = acc_malloc(N * sizeof(T)); \
  P(acc parallel loop deviceptr(d) copyin(a)) for (i = 0; i < N; i++) d[i] = a[i]; \
  P(acc parallel loop deviceptr(d) copyout(c)) for (i = 0; i < N; i++) c[i] = d[i]; \
  for (i = 0; i < N; i++) CHECK_EQ(GET(c[i]), GET(a[i])); \
  acc_free(d); free(p); free(q); }
#define ID(x) (x)
static S mk(int i) {
  S s;
  memset(&s, 0, sizeof s);
  s.a = i;
  s.b = i * 0.5;
  s.c[1] = (char)i;
  return s;
}

static long gs(S s) {
  return s.a * 100 + (long)(s.b * 2) * 10 + s.c[1];
}

#define CPX(i) ((i) + 2.0 * I * (i))
#define GC(z) (creal(z) * 10 + cimag(z))
static int pool[4];
typedef int *IP;
#define PTR(i) (&pool[i])
#define GP(p) ((p) == 0 ? 0 : (long)(intptr_t)(p))
ALL(char, c, ID, ID)
ALL(unsigned short, us, ID, ID)
ALL(long long, ll, ID, ID)
ALL(float, f, ID, ID)
ALL(_Bool, b, ID, ID)
ALL(enum E, e, ID, ID)
ALL(double complex, dc, CPX, GC)
ALL(S, st, mk, gs)
ALL(IP, p, PTR, GP)

int main(void) {
  data_c();
  data_us();
  data_ll();
  data_f();
  data_b();
  data_e();
  data_dc();
  data_st();
  data_p();
  return report();
}
