/*
 * Rows of an array whose length is known at run time only, short and long: inner loops over them, plain and with
 * directives.
 */
#include "check.h"
#define ROWS 11
#define MOST 101
#define SIZE (ROWS * MOST * 3)
struct point { float x, y, z; };
static float a[SIZE], b[SIZE];
static struct point p[ROWS * MOST];
static int lengths[] = {0, 1, 3, 7, 8, 100};

static void set(void) {
  for (int k = 0; k < SIZE; k++) {
    a[k] = k * 7 % 13;
    b[k] = -1;
  }
  for (int k = 0; k < ROWS * MOST; k++)
    p[k] = (struct point){k % 5, k % 7, -1};
}

static void flat(int n, int m) {
  set();
#pragma acc parallel loop gang vector copyin(a) copy(b)
  for (int i = 0; i < n; i++) {
    float t = a[i];
    for (int j = 0; j < m; j++)
      b[i * m + j] = 2 * a[i * m + j] + t;
  }
  for (int k = 0; k < SIZE; k++)
    CHECK_EQ(b[k], k < n * m ? 2 * a[k] + a[k / m] : -1);
}

/* The variable t is private in both loops. */
static void dimensions(int n, int m, float (*restrict to)[m], float (*restrict from)[m]) {
  float t;
  set();
#pragma acc parallel loop copyin(from[0:n]) copy(to[0:n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      t = from[i][j];
      to[i][j] = t * t;
    }
  for (int k = 0; k < SIZE; k++)
    CHECK_EQ(b[k], k < n * m ? a[k] * a[k] : -1);
}

/* The pointers may overlap: that is tested, too. */
static void pointers(int n, int m, float *to, float *from, int first) {
  set();
#pragma acc parallel loop copyin(from[0:SIZE / 2]) copy(to[0:SIZE / 2])
  for (int i = 0; i < n; i++)
    for (int j = first; j < first + m; j++)
      to[i * m + j] = from[i * m + j] + j;
  for (int k = 0; k < SIZE / 2; k++)
    CHECK_EQ(to[k], k >= first && k < n * m + first ? a[k] + (k - first) % m + first : -1);
}

static void structures(int n, int m) {
  set();
#pragma acc parallel loop copy(p) async(m)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      p[i * m + j].z = p[i * m + j].x + p[i * m + j].y;
#pragma acc wait
  for (int k = 0; k < ROWS * MOST; k++)
    CHECK_EQ(p[k].z, k < n * m ? k % 5 + k % 7 : -1);
}

static void cubes(int n, int m) {
  set();
#pragma acc parallel loop copyin(a) copy(b)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < m; k++)
        b[(i * 3 + j) * m + k] = a[(i * 3 + j) * m + k] + j;
#pragma acc parallel loop copy(b)
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < m; k++)
        b[(i * n + j) * m + k] += 1;
  for (int k = 0; k < SIZE; k++)
    CHECK_EQ(b[k], k < n * m * 3 ? a[k] + k / m % 3 + 1 : -1);
}

static void directives(int n, int m) {
  set();
#pragma acc data copyin(a) copy(b)
  {
#pragma acc parallel loop gang num_workers(4) vector_length(64)
    for (int i = 0; i < n; i++)
#pragma acc loop worker vector
      for (int j = 0; j < m; j++)
        b[i * m + j] = a[i * m + j];
#pragma acc parallel loop collapse(2) gang vector
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++)
        b[i * m + j] += i;
#pragma acc parallel loop tile(2, 16)
    for (int j = 0; j < m; j++)
      for (int i = 0; i < n; i++)
        b[i * m + j] += j;
#pragma acc kernels loop independent
    for (long i = 0; i < n; i++)
#pragma acc loop independent vector(32)
      for (unsigned j = 0; j < (unsigned)m; j++)
        b[i * m + j] *= 2;
  }
  for (int k = 0; k < SIZE; k++)
    CHECK_EQ(b[k], k < n * m ? 2 * (a[k] + k / m + k % m) : -1);
}

static void row_sums(int n, int m) {
  float sums[ROWS], most[ROWS];
  set();
#pragma acc parallel loop gang copyin(a) copyout(sums, most)
  for (int i = 0; i < n; i++) {
    float sum = 1, max = -2;
#pragma acc loop vector reduction(+:sum) reduction(max:max)
    for (int j = 0; j < m; j++) {
      sum += a[i * m + j];
      max = max > a[i * m + j] ? max : a[i * m + j];
    }
    sums[i] = sum;
    most[i] = max;
  }
  for (int i = 0; i < n; i++) {
    float sum = 1, max = -2;
    for (int j = 0; j < m; j++) {
      sum += a[i * m + j];
      max = max > a[i * m + j] ? max : a[i * m + j];
    }
    CHECK_EQ(sums[i], sum);
    CHECK_EQ(most[i], max);
  }
}

/* The device's length of a row is another one than the host's, which only decides how the rows are shared. */
static int width;
#pragma acc declare create(width)
static void device_length(int n, int m, int other) {
  set();
  width = m;
#pragma acc update device(width)
  if (separate_memory())
    width = other;
#pragma acc parallel loop copyin(a) copy(b)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < width; j++)
      b[i * width + j] = a[i * width + j];
  for (int k = 0; k < SIZE; k++)
    CHECK_EQ(b[k], k < n * m ? a[k] : -1);
}

int main(void) {
  for (int l = 0; l < 6; l++) {
    int m = lengths[l];
    flat(ROWS, m);
    if (m > 0)
      dimensions(ROWS, m, (void *)b, (void *)a);
    pointers(ROWS, m, b, a, 2);
    structures(ROWS, m);
    cubes(ROWS, m);
    directives(ROWS, m);
    row_sums(ROWS, m);
    device_length(ROWS, m, m < 8 ? 100 : 3);
  }
  return report();
}
