/* Pointers to structures without a section in data clauses: the structure is meant, as other compilers take it. */
#include "check.h"
#define N 50
typedef struct inner {
  double *v;
  int n;
} Inner;
typedef struct outer {
  Inner *in;
  struct outer *next;
  int k;
} Outer;
union word {
  int i;
  float f;
};
static Outer *held;
static Outer *declared;
#pragma acc declare create(declared)

static Outer *make(int k) {
  Outer *o = malloc(sizeof *o);
  o->in = malloc(sizeof *o->in);
  o->in->v = malloc(N * sizeof(double));
  o->in->n = N;
  o->next = NULL;
  o->k = k;
  for (int i = 0; i < N; i++) o->in->v[i] = i;
  return o;
}

static double sum(const Inner *a) {
  double s = 0;
#pragma acc parallel loop present(a, a->v[0:a->n]) reduction(+:s)
  for (int i = 0; i < a->n; i++) s += a->v[i];
  return s;
}

/* Three levels, each with a directive of its own, from the outside. */
static void by_levels(void) {
  Outer *o = make(3);
#pragma acc enter data copyin(o)
#pragma acc enter data copyin(o->in)
#pragma acc enter data copyin(o->in->v[0:N])
#pragma acc parallel loop present(o)
  for (int i = 0; i < N; i++) o->in->v[i] *= o->k;
  CHECK_NEAR(sum(o->in), 3 * N * (N - 1) / 2);
  o->k = 5;
#pragma acc update device(o->k)
#pragma acc parallel loop present(o)
  for (int i = 0; i < N; i++) o->in->v[i] *= o->k;
#pragma acc update self(o->in->v[0:N])
#pragma acc exit data delete(o->in->v, o->in, o)
  CHECK_NEAR(o->in->v[N - 1], 15 * (N - 1));
}

/* Structure and data in one clause; data first, the structure attached later. */
static void together(void) {
  double *v = malloc(N * sizeof(double));
  Inner *a = malloc(sizeof *a);
  a->v = v;
  a->n = N;
#pragma acc data copyin(a) copyout(a->v[:N])
#pragma acc parallel loop
  for (int i = 0; i < a->n; i++) a->v[i] = 2 * i;
  CHECK(a->v == v);
  CHECK_NEAR(v[N - 1], 2 * (N - 1));
#pragma acc enter data copyin(a->v[0:N])
#pragma acc enter data copyin(a) attach(a->v)
#pragma acc parallel loop present(a)
  for (int i = 0; i < a->n; i++) a->v[i] += 1;
#pragma acc exit data detach(a->v)
#pragma acc exit data copyout(a->v[0:N]) delete(a)
  CHECK_NEAR(v[0], 1);
}

/* Other clauses, a union, a file-scope pointer; one in `declare` is itself the data. */
static void other_clauses(void) {
  union word *u = malloc(sizeof *u);
  Outer *o = make(7);
  int k = 0, separate = separate_memory();
  u->i = 4;
#pragma acc parallel copy(u)
  u->i++;
  CHECK_EQ(u->i, 5);
  held = o;
#pragma acc data copyout(held)
#pragma acc serial
  {
    held->k = 8;
    held->in = NULL;
    held->next = NULL;
  }
  CHECK_EQ(o->k, 8);
#pragma acc data create(o)
  {
    o->k = 9;
#pragma acc update device(o)
    o->k = 1;
#pragma acc serial present(o) copyout(k)
    k = o->k;
#pragma acc update self(o)
  }
  CHECK_EQ(k, separate ? 9 : 1);
  CHECK_EQ(o->k, separate ? 9 : 1);
  declared = o;
#pragma acc enter data copyin(o[0:1])
#pragma acc update device(declared)
#pragma acc exit data delete(o)
  CHECK(declared == o);
}

int main(void) {
  by_levels();
  together();
  other_clauses();
  return report();
}
