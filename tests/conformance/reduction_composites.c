/* Reductions of structures, of members, and of arrays in them (2.5.15): scalar by scalar. */
#include "check.h"

#define N 200

typedef struct {
  int count;
  double sum;
  float parts[3];
  struct { long total; unsigned short low; } in[2];
  char small;
} Record;

static const Record zero;

static void whole(void) {
  Record r = {1, 2.0, {1, 2, 3}, {{10, 0}, {20, 0}}, 4}, p = {3, 1.0, {1, 1, 1}, {{1, 1}, {1, 1}}, 1};
#pragma acc parallel loop reduction(+ : r)
  for (int i = 0; i < N; i++) {
    r.count++;
    r.sum += i;
    r.parts[i % 3] += 1;
    r.in[i & 1].total += i;
  }
  CHECK_EQ(r.count, 1 + N);
  CHECK_NEAR(r.sum, 2 + N * (N - 1) / 2);
  CHECK(r.parts[0] == 68 && r.parts[1] == 69 && r.parts[2] == 69);
  CHECK(r.in[0].total == 10 + 9900 && r.in[1].total == 20 + 10000 && r.small == 4);

#pragma acc data copy(p)
  {
#pragma acc parallel loop gang worker vector reduction(* : p) present(p)
    for (int i = 0; i < 10; i++) {
      p.count *= 1 + (i == 3);
      p.sum *= 1.5;
    }
  }
  CHECK(p.count == 6 && p.parts[2] == 1);
  CHECK_NEAR(p.sum, 57.6650390625);
}

/* Through a pointer to the private copy; on the construct and on its loop. */
static void construct(void) {
  Record r = zero;
#pragma acc parallel num_gangs(5) reduction(+ : r)
  {
#pragma acc loop gang reduction(+ : r)
    for (int i = 0; i < 100; i++) {
      Record *q = &r;
      q->count += 2;
      q->sum += i;
    }
  }
  CHECK(r.count == 200 && r.sum == 4950);
}

static void members(void) {
  Record r = {1, 2.0, {0}, {{0}}, 9};
  int most[4] = {0};
  struct { int v[4], keep; } box = {{0}, 5};
#pragma acc parallel loop reduction(+ : r.count, r.sum) reduction(max : r.in[1].total)
  for (int i = 0; i < N; i++) {
    r.count++;
    r.sum += i;
    if (r.in[1].total < i * 7 % 31)
      r.in[1].total = i * 7 % 31;
  }
  CHECK(r.count == 1 + N && r.sum == 2 + N * (N - 1) / 2 && r.in[1].total == 30 && r.small == 9);

#pragma acc parallel loop reduction(max : box.v[1:3])
  for (int i = 0; i < N; i++) {
    int k = 1 + i % 3;
    if (box.v[k] < i)
      box.v[k] = i;
  }
  CHECK(box.v[0] == 0 && box.v[1] == 198 && box.v[3] == 197 && box.keep == 5);

#pragma acc parallel loop gang copy(r, most)
  for (int g = 0; g < 4; g++) {
    Record own = zero;
#pragma acc loop vector reduction(+ : own.count, own.parts)
    for (int i = 0; i < 50; i++) {
      own.count += g;
      own.parts[i % 3] += 1;
    }
    most[g] = own.count + (int)own.parts[1];
  }
  CHECK(most[0] == 17 && most[3] == 167);
}

/* Arrays that a gang declares, of a length known at run time. */
static void lengths(int n, int m) {
  int out[9];
#pragma acc parallel loop gang copyout(out[0:n])
  for (int g = 0; g < n; g++) {
    int first[m];
    double second[m][3];
    for (int i = 0; i < m; i++)
      first[i] = i * g;
#pragma acc loop vector
    for (int i = 0; i < m; i++)
      second[i][g % 3] = first[m - 1 - i];
    int sum = 0;
#pragma acc loop vector reduction(+ : sum)
    for (int i = 0; i < m; i++)
      sum += second[i][g % 3] * i;
    out[g] = sum;
  }
  for (int g = 0; g < n; g++)
    CHECK_EQ(out[g], 1140 * g);
}

static void computed_lengths(int n, int m) {
  int out[9];
#pragma acc parallel loop gang copyout(out[0:n])
  for (int g = 0; g < n; g++) {
    int cells[2 * m + 1], sum = 0;
    for (int i = 0; i <= 2 * m; i++)
      cells[i] = i * g;
#pragma acc loop vector reduction(+ : sum)
    for (int i = 0; i <= 2 * m; i++)
      sum += cells[i];
    out[g] = sum;
  }
  for (int g = 0; g < n; g++)
    CHECK_EQ(out[g], m * (2 * m + 1) * g);
}

/* Members that pointers lead to are copied like variables (2.11), whichever directive of the nest names them. */
struct box { Record *contents; Record own; };
static struct box depot;

static void behind_pointers(struct box *b, int on_device) {
#pragma acc parallel loop reduction(+ : b->own.sum)
  for (int i = 0; i < N; i++)
    b->own.sum += i;
  CHECK_NEAR(b->own.sum, 19900);
#pragma acc parallel loop gang vector reduction(+ : b->contents->count) if (on_device)
  for (int i = 0; i < N; i++)
    b->contents->count += 2;
#pragma acc parallel
#pragma acc loop reduction(+ : b->contents->count, b->contents->sum)
  for (int i = 0; i < N; i++) {
    b->contents->count += 1;
    b->contents->sum += i;
  }
#pragma acc kernels loop reduction(max : depot.contents->in[0].total)
  for (int i = 0; i < N; i++)
    if (i > depot.contents->in[0].total)
      depot.contents->in[0].total = i;
  CHECK_EQ(b->contents->count, 3 * N + 1);
  CHECK_NEAR(b->contents->sum, 19900);
  CHECK_EQ(b->contents->in[0].total, N - 1);
}

int main(void) {
  whole();
  construct();
  members();
  lengths(9, 20);
  computed_lengths(7, 11);
  for (int on_device = 0; on_device < 2; on_device++) {
    Record contents = {1, 0, {0}, {{0}}, 0};
    struct box box = {&contents, zero};
    depot.contents = &contents;
    behind_pointers(&box, on_device);
  }
  return report();
}
