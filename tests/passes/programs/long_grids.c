/* Nests on grids of two and three dimensions: each iteration runs once, however many gangs a launch may have. */
#include <stdio.h>
#include <string.h>
#define N 23
#define M 70
#define K 11

static int hits[K * N * M];
static int failures;

static void check(const char *name, int size, int times) {
  int wrong = 0;
  for (int i = 0; i < size; i++) wrong += hits[i] != times;
  printf("%s %d\n", name, wrong);
  failures += wrong > 0;
  memset(hits, 0, sizeof hits);
}

static void rows(int n, int m) {
#pragma acc parallel loop copy(hits)
  for (int i = 0; i < n; i++)
#pragma acc loop
    for (int j = 0; j < m; j++) hits[i * m + j] += 1;
}

static void every_second(int first, int n, int m) {
#pragma acc parallel loop copy(hits)
  for (int i = first; i < n; i += 2)
#pragma acc loop
    for (int j = 0; j < m; j++) hits[i * m + j] += 1;
}

static void planes(int k, int n, int m) {
#pragma acc parallel loop collapse(3) copy(hits)
  for (int p = 0; p < k; p++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) hits[(p * n + i) * m + j] += 1;
}

static void columns(int n, int m, const int *limit) {
#pragma acc parallel loop copy(hits) copyin(limit[0:n])
  for (int i = 0; i < n; i++) {
#pragma acc loop
    for (int j = 0; j < m; j++) {
      int own[3] = {0, 0, 0};
      for (int l = 0; l < limit[i]; l++) own[l % 3]++;
      hits[i * m + j] += own[0] + own[1] + own[2];
    }
  }
}

/* Two nests in a construct: a second part would run both again. */
static void siblings(int n, int m) {
#pragma acc parallel copy(hits)
  {
#pragma acc loop
    for (int i = 0; i < n; i++)
#pragma acc loop
      for (int j = 0; j < m; j++) hits[i * m + j] += 1;
#pragma acc loop
    for (int i = 0; i < n; i++)
#pragma acc loop
      for (int j = 0; j < m; j++) hits[(n + i) * m + j] += 1;
  }
}

static void conditional(int n, int m, int wanted) {
#pragma acc parallel copy(hits)
  if (wanted) {
#pragma acc loop
    for (int i = 0; i < n; i++)
#pragma acc loop
      for (int j = 0; j < m; j++) hits[i * m + j] += 1;
  }
}

static int counted(int n, int m) {
  int count = 0;
#pragma acc parallel loop reduction(+ : count) copy(hits)
  for (int i = 0; i < n; i++)
#pragma acc loop reduction(+ : count)
    for (int j = 0; j < m; j++) {
      hits[i * m + j] += 1;
      count++;
    }
  return count;
}

static void updated(int n, int m, int *total) {
#pragma acc parallel loop copy(hits, total[0:1])
  for (int i = 0; i < n; i++)
#pragma acc loop
    for (int j = 0; j < m; j++) {
#pragma acc atomic update
      *total += 1;
      hits[i * m + j] += 1;
    }
}

static void queued(int n, int m) {
#pragma acc data copy(hits)
  {
    for (int t = 0; t < 3; t++) {
#pragma acc parallel loop async(1)
      for (int i = 0; i < n; i++)
#pragma acc loop
        for (int j = 0; j < m; j++) hits[i * m + j] = 2 * hits[i * m + j] + 1;
    }
#pragma acc wait(1)
  }
}

int main(void) {
  int limit[N], total = 0;
  for (int i = 0; i < N; i++) limit[i] = 5;
  rows(N, M), check("rows", N * M, 1);
  rows(1, M), hits[M] = 1, check("row", M + 1, 1);
  every_second(1, N, M), every_second(0, N, M), check("every second", N * M, 1);
  planes(K, N, M), check("planes", K * N * M, 1);
  columns(N, M, limit), check("columns", N * M, 5);
  siblings(N, M), check("siblings", 2 * N * M, 1);
  conditional(N, M, 1), check("conditional", N * M, 1);
  conditional(N, M, 0), check("nothing", N * M, 0);
  int count = counted(N, M);
  check("counted", N * M, 1);
  updated(N, M, &total), check("updated", N * M, 1);
  queued(N, M), check("queued", N * M, 7);
  printf("%d %d\n", count - N * M, total - N * M);
  return failures || count != N * M || total != N * M;
}
