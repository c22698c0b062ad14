/* Loops, sections and single, by every schedule; each line is the same for any number of threads. */
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1003

static int hits[N], failures;
static void expect(const char *what, long found, long wanted)
{
  if (found != wanted)
    printf("%s: %ld instead of %ld\n", what, found, wanted), failures++;
}

static void all_once(const char *what, int count)
{
  for (int i = 0; i < count; i++) {
    expect(what, hits[i], 1);
    hits[i] = 0;
  }
}

static void schedules(int chunk)
{
  int i;
#pragma omp parallel num_threads(4)
  {
#pragma omp for
    for (i = 0; i < N; i++)
      hits[i]++;
#pragma omp master
    all_once("static", N);
#pragma omp barrier
#pragma omp for schedule(static, 3)
    for (int i = N - 1; i >= 0; i--)
      hits[i]++;
#pragma omp single
    all_once("static, 3", N);
#pragma omp for schedule(dynamic) nowait
    for (i = 0; i < N; i += 2)
      hits[i]++;
#pragma omp for schedule(dynamic, chunk)
    for (unsigned char c = 1; c <= 201; c += 2)
      hits[c]++;
#pragma omp for schedule(guided, 2)
    for (long j = 203; j < N; j = 2 + j)
      hits[j]++;
#pragma omp single
    all_once("dynamic and guided", N);
#pragma omp for schedule(runtime)
    for (size_t k = 0; k < N; ++k)
      hits[k]++;
#pragma omp single
    all_once("runtime", N);
#pragma omp for schedule(auto)
    for (i = 0; N > i; i++) {
      if (i % 3 == 0)
        continue;
      hits[i]++;
    }
#pragma omp for
    for (int k = 0; k < N; k += 3)
      hits[k]++;
  }
  all_once("continue", N);
}

static void odd_loops(void)
{
  int count = 0, empty = 0, step = 7;
#pragma omp parallel for reduction(+ : count)
  for (int i = INT_MAX - 21; i < INT_MAX; i += 3)
    count++;
  expect("up to INT_MAX", count, 7);
  count = 0;
#pragma omp parallel for reduction(+ : count)
  for (int i = 100; i > -100; i -= step)
    count++;
  expect("variable step down", count, 29);
  count = 0;
#pragma omp parallel for reduction(+ : count)
  for (unsigned u = 10; u != 0; u--)
    count += u;
  expect("unsigned down", count, 55);
#pragma omp parallel for reduction(+ : empty)
  for (int i = 10; i < 5; i++)
    empty++;
  expect("no iterations", empty, 0);
  count = 0;
#pragma omp parallel for reduction(+ : count) schedule(dynamic, 4)
  for (int i = 0; i <= 99; i = i + 1)
    count += i;
  expect("up to and with", count, 4950);
}

static void collapsed(int rows, int columns)
{
  long sum = 0;
  int i, j, k = 0;
#pragma omp parallel for collapse(2) reduction(+ : sum) schedule(static, 5) lastprivate(k)
  for (i = 0; i < rows; i++)
    for (j = columns; j > 0; j--) {
      hits[i * columns + j - 1]++;
      sum += i * j;
      k = 100 * i + j;
    }
  all_once("collapse(2)", rows * columns);
  expect("sum", sum, (long)rows * (rows - 1) / 2 * columns * (columns + 1) / 2);
  expect("last", k, 100 * (rows - 1) + 1);
  sum = 0;
  struct bounds { int r; } limit = {columns}; // a member with the name of a loop's variable
#pragma omp parallel for collapse(2) reduction(+ : sum)
  for (int r = 0; r < rows; r++)
    for (int q = 0; q < limit.r; q++)
      sum++;
  expect("member", sum, (long)rows * columns);
  sum = 0;
#pragma omp parallel for collapse(3) reduction(+ : sum) schedule(guided)
  for (int a = 0; a < 5; a++)
    for (int b = 1; b <= 7; b += 2)
      for (int c = 0; c < 6; c++)
        sum += 100 * a + 10 * b + c;
  expect("collapse(3)", sum, 100 * 10 * 24 + 10 * 16 * 30 + 15 * 20);
}

static void copies(void)
{
  int first = 5, last = -1, both = 40, i;
  double table[6] = {1, 2, 3, 4, 5, 6}, total = 0;
  struct { int x; char text[9]; } record = {7, "seven"};
#pragma omp parallel num_threads(3) firstprivate(first, table, record) reduction(+ : total)
  {
    first += omp_get_thread_num();
    table[1] += first;
    record.x += first;
    total += table[1] + record.x + record.text[0];
#pragma omp for lastprivate(last) firstprivate(both) lastprivate(both)
    for (i = 0; i < 90; i++) {
      last = i;
      both = both % 2 ? 41 : 40;
      if (i == 89)
        both = 1000;
    }
  }
  expect("firstprivate", (long)total, 3 * (2 + 7 + 's') + 2 * (5 + 6 + 7));
  expect("the originals", first + (int)table[1] + record.x, 14);
  expect("lastprivate", last, 89);
  expect("first and last", both, 1000);
#pragma omp parallel for lastprivate(i)
  for (i = 3; i < 80; i += 4)
    ;
  expect("the loop's variable", i, 83);
}

static void reductions(void)
{
  int low = 0, least = INT_MAX, most = INT_MIN, all = 1, any = 0, bits = ~0, odd = 0, set = 0;
  long product = 1;
  float floor_ = 1e30f;
  int bins[4] = {1, 0, 0, 0};
  double grid[2][3] = {{0}};
#pragma omp parallel for reduction(- : low) reduction(min : least, floor_) reduction(max : most) \
    reduction(&& : all) reduction(|| : any) reduction(& : bits) reduction(^ : odd) reduction(| : set) \
    reduction(* : product) reduction(+ : bins, grid)
  for (int i = 1; i <= 20; i++) {
    low -= i;
    least = i * i - 30 * i < least ? i * i - 30 * i : least;
    if (i - 7.5f < floor_)
      floor_ = i - 7.5f;
    if (most < 50 - i)
      most = 50 - i;
    all = all && i < 20;
    any = any || i == 13;
    bits &= ~i;
    odd ^= i;
    set |= 1 << i;
    product *= i % 3 + 1;
    bins[i % 4]++;
    grid[i % 2][i % 3] += i;
  }
  expect("-", low, -210);
  expect("min", least, -225);
  expect("min of floats", (long)(2 * floor_), -13);
  expect("max", most, 49);
  expect("&&", all, 0);
  expect("||", any, 1);
  expect("&", bits, ~31);
  expect("^", odd, 20);
  expect("|", set, 0x1ffffe);
  expect("*", product, 128L * 2187);
  expect("array", bins[0] + 10 * bins[1] + 100 * bins[3], 6 + 50 + 500);
  expect("two dimensions", (long)(grid[0][0] + 100 * grid[1][2]), 36 + 100 * (5 + 11 + 17));
}

static void one_of_them(void)
{
  int singles = 0, told[4] = {0}, x, done = 0;
  int parts[5] = {0}, final = 0;
#pragma omp parallel num_threads(4) private(x)
  {
    x = -1;
#pragma omp single nowait
    singles++;
#pragma omp single copyprivate(x)
    x = 77;
    told[omp_get_thread_num()] = x;
    for (int k = 0; k < 40; k++) {
#pragma omp single
      done++;
    }
#pragma omp sections lastprivate(final)
    {
      parts[0]++;
#pragma omp section
      parts[1]++;
#pragma omp section
      {
        parts[2]++;
        final = 3;
      }
    }
  }
  expect("single", singles, 1);
  expect("copyprivate", told[0] + told[1] + told[2] + told[3], 308);
  expect("many singles", done, 40);
  expect("lastprivate of sections", final, 3);
#pragma omp parallel sections num_threads(2) reduction(+ : done)
  {
#pragma omp section
    parts[3]++, done++;
#pragma omp section
    parts[4]++, done++;
  }
  for (int i = 0; i < 5; i++)
    expect("section", parts[i], 1);
  expect("reduction of sections", done, 42);
}

/* Sections of arrays and of what pointers point to, with bounds that are known at run time. */
static void parts_of_arrays(int from, int count)
{
  int histogram[9] = {0}, most[6] = {1, 1, 1, 1, 1, 1}, one = 0, *few = &one;
  double *sums = calloc(count, sizeof(double));
#pragma omp parallel for reduction(+ : histogram[from : count], sums[0 : count]) reduction(max : most[2 : 3])
  for (int i = 0; i < 700; i++) {
    histogram[from + i % count]++;
    sums[i % count] += i;
    if (most[2 + i % 3] < i)
      most[2 + i % 3] = i;
  }
#pragma omp parallel num_threads(3)
  {
#pragma omp for reduction(+ : few[ : 1]) reduction(| : histogram[0])
    for (int i = 0; i < 90; i++) {
      few[0] += 2;
      histogram[0] |= 1 << i % 4;
    }
  }
  for (int i = 0; i < count; i++) {
    expect("section of an array", histogram[from + i], 700 / count);
    expect("section behind a pointer", (long)sums[i], 100 * i + 7 * 4950);
  }
  expect("around the section", histogram[from + count], 0);
  expect("section of one", one, 180);
  expect("one element", histogram[0], 15);
  expect("greatest of a section", most[1] * 1000000L + most[2] + most[3] + most[4], 1000000L + 699 + 697 + 698);
  free(sums);
}

#pragma omp declare simd uniform(factor) linear(i : 1) notinbranch
static float scaled(int i, float factor)
{
  return (float)i * factor;
}

static void simd_loops(void)
{
  static float a[200];
  float total = 0;
  int last = 0;
#pragma omp simd reduction(+ : total) lastprivate(last) simdlen(4)
  for (int i = 0; i < 200; i++) {
    a[i] = i;
    total += a[i];
    last = i;
  }
#pragma omp parallel for simd reduction(+ : total)
  for (int i = 0; i < 200; i++)
    total += a[i];
  expect("simd", (long)total + last, 2 * 19900 + 199);
  int twice = 1;
#pragma omp simd linear(twice : 2) aligned(a : 4)
  for (int i = 0; i < 200; i++) {
    a[i] = scaled(i, 2.0f) + twice;
    twice += 2;
  }
  expect("linear", (long)a[199] + twice, 398 + 399 + 401);
}

int main(void)
{
  schedules(5);
  odd_loops();
  collapsed(17, 23);
  copies();
  reductions();
  one_of_them();
  parts_of_arrays(1, 7);
  simd_loops();
  printf("worksharing: %s\n", failures ? "FAILED" : "as expected");
  return failures != 0;
}
