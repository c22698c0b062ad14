/* attach and detach, lists, structures in structures, arrays of pointers. */
#include "check.h"
#include <openacc.h>
#define N 32
typedef struct node {
  int id;
  double *v;
  struct node *next;
  int len;
} Node;
typedef struct {
  int n;
  struct {
    float *f;
    int *i;
  } in;
  char tag[4];
  int *arr[3];
} Deep;
static int dev_reads(Node *s) {
  int r;
#pragma acc serial present(s[0:1]) copyout(r)
  r = (int)s->v[1];
  return r;
}

static void attach_counts(int sep) {
  Node s = {1, malloc(N * 8), 0, N};
  double *v = s.v, *w = malloc(N * 8);
  int i;
  for (i = 0; i < N; i++)
    v[i] = i, w[i] = 100 + i;
#pragma acc enter data copyin(s)
#pragma acc enter data copyin(v[0:N], w[0:N])
#pragma acc enter data attach(s.v)
  CHECK_EQ(dev_reads(&s), 1);
#pragma acc enter data attach(s.v)
#pragma acc exit data detach(s.v)
  CHECK_EQ(dev_reads(&s), 1);
#pragma acc exit data detach(s.v)
  /* update whole struct while attached must not leak */
#pragma acc enter data attach(s.v)
#pragma acc update self(s)
  CHECK(s.v == v);
#pragma acc update device(s.id, s.len)
  CHECK_EQ(dev_reads(&s), 1);
#pragma acc exit data detach(s.v) finalize
  /* repoint on host, attach again */
  s.v = w;
#pragma acc update device(s.v)
#pragma acc enter data attach(s.v)
  CHECK_EQ(dev_reads(&s), 101);
#pragma acc exit data detach(s.v)
#pragma acc exit data copyout(s)
  CHECK(s.v == w);
  CHECK_EQ(s.len, N);
#pragma acc exit data delete(v[0:N], w[0:N])
  /* attach with absent pieces: nothing */
#pragma acc enter data attach(s.v)
#pragma acc exit data detach(s.v)
  /* structured attach */
#pragma acc data copyin(s) copyin(w[0:N])
  {
#pragma acc data attach(s.v)
    {
      CHECK_EQ(dev_reads(&s), 101);
    }
#pragma acc parallel loop attach(s.v) present(s)
    for (i = 0; i < s.len; i++)
      s.v[i] += 1;
#pragma acc update self(w[0:N])
    CHECK_NEAR(w[3], 104);
  }
  /* copy of struct then of member in one clause list, order of both kinds */
#pragma acc data copy(s, s.v[0:N])
#pragma acc parallel loop
  for (i = 0; i < N; i++)
    s.v[i] = i;
  CHECK_NEAR(w[5], 5);
#pragma acc parallel loop copy(s) copy(s.v[0:N])
  for (i = 0; i < N; i++)
    s.v[i] += s.id;
  CHECK_NEAR(w[5], 6);
#pragma acc parallel loop copy(s.v[0:N])
  for (i = 0; i < N; i++)
    s.v[i] += 1;
  CHECK_NEAR(w[5], 7);
  (void)sep;
  free(v);
  free(w);
}

static void lists(void) {
  Node *head = 0, *p;
  int i, sum = 0, k = 0;
  for (i = 0; i < 5; i++) {
    p = malloc(sizeof *p);
    p->id = i;
    p->len = 3;
    p->v = malloc(3 * 8);
    for (int j = 0; j < 3; j++)
      p->v[j] = i * 10 + j;
    p->next = head;
    head = p;
  }
  for (p = head; p; p = p->next) {
#pragma acc enter data copyin(p[0:1])
#pragma acc enter data copyin(p->v[0:p->len])
  }
  for (p = head; p; p = p->next) {
#pragma acc enter data attach(p->next)
  }
#pragma acc serial present(head[0:1]) copy(sum, k)
  {
    for (Node *q = head; q; q = q->next) {
      k++;
      for (int j = 0; j < q->len; j++) {
        sum += (int)q->v[j];
        q->v[j] *= 2;
      }
      q->id += 100;
    }
  }
  CHECK_EQ(k, 5);
  CHECK_EQ(sum, 3 * 100 + 5 * 3);
  for (p = head; p; p = p->next) {
#pragma acc exit data detach(p->next)
  }
  for (p = head; p;) {
    Node *n = p->next;
#pragma acc exit data copyout(p->v[0:p->len])
#pragma acc exit data copyout(p[0:1])
    CHECK(p->next == n);
    CHECK(p->id >= 100);
    CHECK_NEAR(p->v[2], 2 * ((p->id - 100) * 10 + 2));
    free(p->v);
    free(p);
    p = n;
  }
}

static void deep(void) {
  Deep d = {N};
  int i, k;
  d.in.f = malloc(N * 4);
  d.in.i = malloc(N * 4);
  for (k = 0; k < 3; k++) {
    d.arr[k] = malloc(N * 4);
    for (i = 0; i < N; i++)
      d.arr[k][i] = k * 100 + i;
  }
  for (i = 0; i < N; i++)
    d.in.f[i] = i, d.in.i[i] = -i;
  strcpy(d.tag, "abc");
#pragma acc enter data copyin(d)
#pragma acc enter data copyin(d.in.f[0:N]) copyin(d.in.i[0:d.n])
  for (k = 0; k < 3; k++) {
#pragma acc enter data copyin(d.arr[k][0:N])
  }
#pragma acc parallel loop present(d)
  for (i = 0; i < d.n; i++) {
    d.in.f[i] += d.in.i[i] + d.arr[0][i] + d.arr[1][i] + d.arr[2][i];
    d.arr[1][i] = d.tag[1];
  }
#pragma acc update self(d.in.f[0:N], d.arr[1][0:N])
  for (i = 0; i < N; i++) {
    CHECK_NEAR(d.in.f[i], 300 + 3 * i);
    CHECK_EQ(d.arr[1][i], 'b');
  }
  for (k = 0; k < 3; k++) {
#pragma acc exit data delete(d.arr[k][0:N])
  }
#pragma acc exit data delete(d.in.f[0:N], d.in.i[0:N])
#pragma acc exit data delete(d)
  CHECK(!acc_is_present(&d, sizeof d));
  Deep *many = malloc(4 * sizeof *many);
  for (k = 0; k < 4; k++) {
    many[k].n = k + 1;
    many[k].in.f = malloc((k + 1) * 4);
    for (i = 0; i <= k; i++)
      many[k].in.f[i] = i;
  }
#pragma acc enter data copyin(many[0:4])
  for (k = 0; k < 4; k++) {
#pragma acc enter data copyin(many[k].in.f[0:many[k].n])
  }
#pragma acc parallel loop gang present(many[0:4])
  for (k = 0; k < 4; k++)
#pragma acc loop vector
    for (i = 0; i < many[k].n; i++)
      many[k].in.f[i] += 10 * k;
  for (k = 0; k < 4; k++) {
#pragma acc exit data copyout(many[k].in.f[0:many[k].n])
  }
#pragma acc exit data delete(many[0:4])
  CHECK_NEAR(many[3].in.f[3], 33);
  /* no_create of member */
  int *ip = d.in.i;
#pragma acc data no_create(d, d.in.i[0:N])
  CHECK(!acc_is_present(ip, 4));
  for (k = 0; k < 3; k++)
    free(d.arr[k]);
  free(d.in.f);
  free(d.in.i);
  for (k = 0; k < 4; k++)
    free(many[k].in.f);
  free(many);
}

static void twod(void) {
  int n = 6, m = 7, i, j;
  double **a = malloc(n * sizeof *a), (*b)[7] = malloc(n * sizeof *b), *flat = malloc(n * m * 8);
  for (i = 0; i < n; i++) {
    a[i] = malloc(m * 8);
    for (j = 0; j < m; j++)
      a[i][j] = b[i][j] = flat[i * m + j] = i * m + j;
  }
#pragma acc data copy(a[0:n][0:m]) copyin(b[0:n][0:m], flat[0:n*m])
  {
#pragma acc parallel loop collapse(2)
    for (i = 0; i < n; i++)
      for (j = 0; j < m; j++)
        a[i][j] += b[i][j] + flat[i * m + j];
  }
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++)
      CHECK_NEAR(a[i][j], 3 * (i * m + j));
#pragma acc parallel loop gang copy(a[0:n][0:m])
  for (i = 0; i < n; i++) {
    double *row = a[i];
#pragma acc loop vector
    for (j = 0; j < m; j++)
      row[j] = -row[j];
  }
  CHECK_NEAR(a[5][6], -3 * 41);
#pragma acc enter data create(a[0:n][0:m])
#pragma acc parallel loop collapse(2) present(a[0:n][0:m])
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++)
      a[i][j] = i + j;
#pragma acc exit data copyout(a[0:n][0:m])
  CHECK_NEAR(a[5][6], 11);
  for (i = 0; i < n; i++)
    free(a[i]);
  free(a);
  free(b);
  free(flat);
}

int main(void) {
  attach_counts(separate_memory());
  lists();
  deep();
  twod();
  return report();
}
