/* Reductions of arrays and sections whose length only the run time knows (2.5.15, 2.9.11). */
#include "check.h"

static void histogram(int n, int bins) {
  int *h = calloc(bins, sizeof *h);
  double *most = malloc(bins * sizeof *most), *least = malloc(bins * sizeof *least);
  long product[bins];
  for (int b = 0; b < bins; b++) {
    most[b] = -1;
    least[b] = 1e9;
    product[b] = 1;
  }
#pragma acc parallel loop reduction(+ : h[0:bins]) reduction(max : most[0:bins])                  \
    reduction(min : least[0:bins]) reduction(* : product)
  for (int i = 0; i < n; i++) {
    int b = i * 7 % bins;
    h[b] += i;
    most[b] = most[b] > i ? most[b] : i;
    least[b] = least[b] < i ? least[b] : i;
    if (i % 500 == 3)
      product[b] *= 3;
  }
  for (int b = 0; b < bins; b++) {
    int sum = 0, last = -1, first = 1000000000;
    long p = 1;
    for (int i = 0; i < n; i++)
      if (i * 7 % bins == b) {
        sum += i;
        last = i;
        first = first < i ? first : i;
        if (i % 500 == 3)
          p *= 3;
      }
    CHECK_EQ(h[b], sum);
    CHECK(most[b] == last && least[b] == first);
    CHECK_EQ(product[b], p);
  }
  free(h);
  free(most);
  free(least);
}

/* A section that does not begin at 0, added to what is there; on the device already. */
static void section(int from, int length) {
  float *a = malloc(100 * sizeof *a);
  for (int i = 0; i < 100; i++)
    a[i] = i;
#pragma acc data copy(a[0:100])
  {
#pragma acc parallel loop gang vector reduction(+ : a[from:length])
    for (int i = 0; i < 600; i++)
      a[from + i % length] += 1;
  }
  for (int i = 0; i < 100; i++)
    CHECK_EQ(a[i], i + (i >= from && i < from + length ? 600 / length : 0));
  free(a);
}

/* In a gang: the copies of its threads, into an array of the gang and into one of all. */
static void levels(int rows, int m) {
  int *out = calloc(rows * m, sizeof *out), *total = calloc(m, sizeof *total);
#pragma acc parallel loop gang copy(out[0:rows * m]) reduction(+ : total[0:m])
  for (int r = 0; r < rows; r++) {
    int own[m];
    for (int k = 0; k < m; k++)
      own[k] = r;
#pragma acc loop worker vector reduction(+ : own)
    for (int i = 0; i < 10 * m; i++)
      own[i % m] += i / m;
    for (int k = 0; k < m; k++) {
      out[r * m + k] = own[k];
      total[k] += own[k];
    }
  }
  for (int k = 0; k < m; k++)
    CHECK(out[2 * m + k] == 2 + 45 && total[k] == rows * 45 + rows * (rows - 1) / 2);
  free(out);
  free(total);
}

static void construct(int gangs, int m) {
  int *seen = calloc(m, sizeof *seen), cap = m - 1;
#pragma acc parallel num_gangs(gangs) reduction(+ : seen[0:m])
  {
    for (int k = 0; k < m; k++)
      seen[k] += k + 1;
  }
  CHECK(seen[0] == gangs && seen[cap] == gangs * m);
#pragma acc parallel loop num_gangs(1) vector_length(32) reduction(| : seen[0:m + 0])
  for (int i = 0; i < 64; i++)
    seen[i % m] |= 1 << 20;
  CHECK(seen[0] == (gangs | 1 << 20));
  free(seen);
}

int main(void) {
  histogram(2000, 37);
  section(13, 20);
  levels(5, 12);
  construct(4, 9);
  return report();
}
