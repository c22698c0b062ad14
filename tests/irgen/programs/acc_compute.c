/* Compute constructs, loops and their clauses; results checked against serial code. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define N 100
#define M 37

typedef struct { int n; float *data; float fixed[8]; double scale; } array;
static float global[N];
static int histogram[10];

static float clamp(float v, float lo, float hi) { return v < lo ? lo : v > hi ? hi : v; }

static void saxpy(int n, float a, float *restrict x, float *restrict y) {
#pragma acc parallel loop gang vector copyin(x[0:n]) copy(y[0:n]) vector_length(64)
  for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}

static double dot(int n, const double *x, const double *y) {
  double s = 0;
#pragma acc parallel loop reduction(+:s) copyin(x[0:n], y[:n])
  for (int i = 0; i < n; i++) s += x[i] * y[i];
  return s;
}

static void matmul(int n, int m, double a[n][m], double b[m][n], double c[n][n]) {
#pragma acc parallel loop collapse(2) copyin(a[0:n][0:m], b[0:m][0:n]) copyout(c[0:n][0:n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double t = 0;
#pragma acc loop seq
      for (int k = 0; k < m; k++) t += a[i][k] * b[k][j];
      c[i][j] = t;
    }
}

static int escape(int w, int *out) {
  int i, k, worst = 0;
#pragma acc parallel loop copyout(out[0:w]) reduction(max:worst) private(k)
  for (i = 0; i < w; i++) {
    float x = 0, cx = -2.0f + 3.0f * i / w;
    for (k = 0; k < 50; k++) {
      x = x * x + cx;
      if (x > 4) break;
    }
    out[i] = k;
    if (k > worst) worst = k;
    if (i % 2) continue;
    out[i] += 1;
  }
  return worst;
}

static void member(array *p) {
#pragma acc parallel loop copy(p->data[0:p->n]) copyin(p->fixed[0:8])
  for (int i = 0; i < p->n; i++) p->data[i] = clamp(p->data[i] * p->fixed[i % 8], 0, 50);
}

static void down(int n, int *a) {
#pragma acc kernels copy(a[0:n])
  {
    for (int i = n - 1; i >= 0; i--) a[i] += i;
#pragma acc loop independent
    for (unsigned i = 0; i < (unsigned)n; i += 2) a[i] *= 2;
  }
}

int main(void) {
  float x[N], y[N];
  for (int i = 0; i < N; i++) { x[i] = i; y[i] = 2 * i; global[i] = i; }
  saxpy(N, 0.5f, x, y);
  printf("%g %g\n", y[3], y[N - 1]);
  double u[N], v[N];
  for (int i = 0; i < N; i++) { u[i] = i; v[i] = 1.0 / (i + 1); }
  printf("%.6f\n", dot(N, u, v));
  static double a[5][M], b[M][5], c[5][5];
  for (int i = 0; i < 5; i++) for (int j = 0; j < M; j++) { a[i][j] = i + j; b[j][i] = i - j; }
  matmul(5, M, a, b, c);
  printf("%g %g\n", c[1][2], c[4][4]);
  int out[N];
  printf("%d ", escape(N, out));
  printf("%d %d %d\n", out[0], out[50], out[99]);
  array p = {N, x, {1, 2, 3, 4, 5, 6, 7, 8}, 2};
  member(&p);
  printf("%g %g %g\n", x[1], x[9], x[98]);
  int w[N];
  for (int i = 0; i < N; i++) w[i] = i;
  down(N, w);
  printf("%d %d\n", w[10], w[11]);

  int total = 0, flag = 1;
  float biggest = -1e30f;
#pragma acc data copy(global) create(x) if(flag)
  {
#pragma acc parallel present(global) num_gangs(4) num_workers(2) reduction(+:total) async(1) default(present)
    {
#pragma acc loop gang worker
      for (int i = 0; i < N; i++) global[i] += sqrtf(global[i]);
      total += 1;
    }
#pragma acc wait(1)
#pragma acc update self(global[10:5])
    printf("%.4f\n", global[10]);
#pragma acc parallel loop reduction(max:biggest)
    for (int i = 0; i < N; i++) biggest = fmaxf(biggest, global[i]);
#pragma acc serial
    { global[0] = 7; }
  }
  printf("%d %.4f %g\n", total > 0, biggest, global[0]);
#pragma acc enter data copyin(w[0:N]) create(y[0:N])
#pragma acc parallel loop present(w, y)
  for (int i = 0; i < N; i++) y[i] = w[i] * 2;
#pragma acc exit data copyout(y[0:N]) delete(w) finalize
  printf("%g\n", y[7]);
#pragma acc parallel loop copyin(w) copy(histogram)
  for (int i = 0; i < N; i++) {
#pragma acc atomic update
    histogram[w[i] % 10]++;
  }
  printf("%d %d\n", histogram[0], histogram[4]);
  int next = 0, order[N], sum = 0;
#pragma acc parallel loop copy(next) copyout(order)
  for (int i = 0; i < N; i++) {
    int mine;
#pragma acc atomic capture
    mine = next++;
    order[mine] = i;
  }
  for (int i = 0; i < N; i++) sum += order[i];
  printf("%d %d\n", next, sum);
  return 0;
}
