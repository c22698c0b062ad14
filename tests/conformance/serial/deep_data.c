/* Data: deep structures, members, sections, pointers to arrays, implicit attributes. Prints what serial C prints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 20
typedef struct { int n; double *x, *y; } Inner;
typedef struct { Inner in; Inner *list; int cnt; float fix[8]; } Outer;
typedef double Row[5]; typedef struct { Row r[4]; } Mat;
static void scale(double *restrict x, const double *y, int n, double k) {
#pragma acc kernels loop copy(x[0:n]) copyin(y[:n])
  for (int i = 0; i < n; i++) x[i] += k * y[i]; }
int main(void) {
  Outer o; o.in.n = N; o.in.x = malloc(N * 8); o.in.y = malloc(N * 8); o.cnt = 3; o.list = malloc(3 * sizeof(Inner));
  for (int i = 0; i < N; i++) { o.in.x[i] = i; o.in.y[i] = 2 * i; } for (int i = 0; i < 8; i++) o.fix[i] = i;
  for (int k = 0; k < 3; k++) { o.list[k].n = 5 + k; o.list[k].x = malloc((5 + k) * 8); o.list[k].y = 0; for (int i = 0; i < 5 + k; i++) o.list[k].x[i] = k * 10 + i; }
  Outer *po = &o;
#pragma acc parallel loop copy(o, o.in.x[0:N]) copyin(o.in.y[0:N])
  for (int i = 0; i < o.in.n; i++) o.in.x[i] += o.in.y[i] + o.fix[i % 8];
  printf("%g %g\n", o.in.x[3], o.in.x[19]);
#pragma acc parallel loop copy(po->in.x[0:N]) copyin(po->in.n)
  for (int i = 0; i < N; i++) po->in.x[i] *= 2;
  printf("%g\n", o.in.x[3]);
#pragma acc enter data copyin(po[0:1])
#pragma acc enter data copyin(po->in.x[0:po->in.n], po->in.y[0:po->in.n])
#pragma acc enter data copyin(po->list[0:po->cnt])
  for (int k = 0; k < po->cnt; k++) {
#pragma acc enter data copyin(po->list[k].x[0:po->list[k].n])
  }
#pragma acc parallel loop present(po)
  for (int k = 0; k < po->cnt; k++) {
    double s = 0; for (int i = 0; i < po->list[k].n; i++) { po->list[k].x[i] += 1; s += po->list[k].x[i]; }
    po->in.x[k] = s; po->fix[k] = s;
  }
#pragma acc update self(po->fix[0:3], po->in.x[0:3])
  printf("%g %g %g %g\n", o.fix[0], o.fix[1], o.fix[2], o.in.x[2]);
  for (int k = 0; k < po->cnt; k++) {
#pragma acc exit data copyout(po->list[k].x[0:po->list[k].n])
  }
#pragma acc exit data delete(po->list[0:3])
#pragma acc exit data copyout(po->in.x[0:N]) delete(po->in.y[0:N])
#pragma acc exit data delete(po[0:1])
  printf("%g %g\n", o.list[2].x[6], o.in.x[0]);
  Mat m; 
#pragma acc parallel loop copyout(m)
  for (int i = 0; i < 4; i++) for (int j = 0; j < 5; j++) m.r[i][j] = i * j;
  printf("%g\n", m.r[3][4]);
#pragma acc parallel loop copy(m.r[1:2])
  for (int i = 1; i < 3; i++) m.r[i][0] = 77;
  printf("%g %g\n", m.r[2][0], m.r[3][0]);
#pragma acc parallel loop copy(o.fix[2:4])
  for (int i = 2; i < 6; i++) o.fix[i] = -1;
  printf("%g %g\n", o.fix[1], o.fix[5]);
  double a[N], b[N]; for (int i = 0; i < N; i++) a[i] = b[i] = i; scale(a, b, N, 3); printf("%g\n", a[5]);
  // 3D pointer to array
  double (*c)[3][4] = malloc(sizeof(double[6][3][4]));
#pragma acc parallel loop collapse(3) copyout(c[0:6])
  for (int i = 0; i < 6; i++) for (int j = 0; j < 3; j++) for (int k = 0; k < 4; k++) c[i][j][k] = i + j * k;
  printf("%g\n", c[5][2][3]);
#pragma acc parallel loop copy(c[2:2][0:3][0:4])
  for (int i = 2; i < 4; i++) c[i][1][1] = -5;
  printf("%g %g\n", c[3][1][1], c[4][1][1]);
  // implicit data for pointers, structs
  double *dyn = malloc(N * 8);
#pragma acc parallel loop
  for (int i = 0; i < N; i++) dyn[i] = a[i] + m.r[i % 4][i % 5];
  printf("%g\n", dyn[7]);
  char *str = malloc(30); strcpy(str, "hello world");
#pragma acc parallel loop copy(str[0:12])
  for (int i = 0; i < 11; i++) if (str[i] >= 'a' && str[i] <= 'z') str[i] -= 32;
  puts(str);
  // private with section & firstprivate section
  int buf[10] = {0,1,2,3,4,5,6,7,8,9}; int res[6];
#pragma acc parallel loop gang firstprivate(buf) copyout(res)
  for (int i = 0; i < 6; i++) { int s = 0; for (int k = 0; k < 10; k++) s += buf[k] * i; res[i] = s; }
  for (int i = 0; i < 6; i++) printf("%d ", res[i]); puts("");
  // scalar copy back, kernels implicit copies of scalars
  int sc = 0, last = 0; 
#pragma acc kernels
  { sc = 5; for (int i = 0; i < N; i++) a[i] = sc; last = (int)a[3]; }
  printf("%d %d\n", sc, last);
#pragma acc serial copy(sc)
  { for (int i = 0; i < 10; i++) sc += i; }
#pragma acc parallel copyout(last) 
  last = 9;
  printf("%d %d\n", sc, last);
  // pointer swap between kernels on host
  double *p1 = a, *p2 = b;
#pragma acc data copy(a, b)
  for (int it = 0; it < 3; it++) {
#pragma acc parallel loop present(p1[0:N], p2[0:N])
    for (int i = 0; i < N; i++) p2[i] = p1[i] + 1;
    double *t = p1; p1 = p2; p2 = t;
  }
  printf("%g %g\n", a[2], b[2]);
  return 0;
}
