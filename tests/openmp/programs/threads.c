/* Synchronisation, tasks, variables of threads, and the routines of omp.h. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;
static void expect(const char *what, long found, long wanted)
{
  if (found != wanted)
    printf("%s: %ld instead of %ld\n", what, found, wanted), failures++;
}

static int calls = 100, unused = 1;
static double scratch[3] = {1, 2, 3};
#pragma omp threadprivate(calls, scratch)

static int next_call(void)
{
  static int own = 10;
#pragma omp threadprivate(own)
  calls++;
  return ++own;
}

static void of_threads(void)
{
  int sum = 0, own = 0;
  calls = 200;
#pragma omp parallel num_threads(3) reduction(+ : sum, own)
  {
    next_call();
    scratch[1] += omp_get_thread_num();
    sum += calls;
    own += next_call();
  }
  expect("threadprivate", sum, 201 + 101 + 101);
  expect("static in a function", own, 3 * 12);
  sum = 0;
#pragma omp parallel num_threads(3) copyin(calls) reduction(+ : sum)
  {
    calls += omp_get_thread_num();
    sum += calls;
  }
  expect("copyin", sum, 3 * 202 + 3);
  sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
  sum += calls + (int)scratch[1];
  expect("kept from region to region", sum, 3 * 202 + 3 + 6 + 3);
}

static void exclusion(void)
{
  int count = 0, other = 0, pairs = 0, bad = 0, seen = 0, old;
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(4) private(old)
  {
    for (int i = 0; i < 500; i++) {
#pragma omp critical
      count++;
#pragma omp critical(other_one)
      {
        other++;
#pragma omp critical(inner_one)
        other++;
      }
      omp_set_lock(&lock);
      pairs++;
      omp_unset_lock(&lock);
      omp_set_nest_lock(&nest);
      omp_set_nest_lock(&nest);
      seen++;
      omp_unset_nest_lock(&nest);
      omp_unset_nest_lock(&nest);
    }
#pragma omp barrier
    if (count != 2000 || other != 4000 || pairs != 2000 || seen != 2000)
#pragma omp atomic write
      bad = 1;
#pragma omp barrier
    for (int i = 0; i < 500; i++) {
#pragma omp atomic
      count += 2;
#pragma omp atomic capture seq_cst
      old = other++;
      if (old < 4000)
#pragma omp atomic
        bad |= 2;
    }
  }
  omp_destroy_lock(&lock);
  expect("critical and locks", bad, 0);
  expect("atomic", count, 6000);
  expect("capture", other, 6000);
  expect("test lock", omp_test_lock(&lock) + 10 * omp_test_lock(&lock), 1);
}

static void handed_on(void)
{
  int data = 0, flag = 0, got = 0;
#pragma omp parallel num_threads(2) shared(data, flag, got)
  {
    if (omp_get_thread_num() == 0) {
      data = 42;
#pragma omp flush
#pragma omp atomic write
      flag = 1;
    } else {
      int ready = 0;
      while (!ready) {
#pragma omp atomic read
        ready = flag;
      }
#pragma omp flush
      got = data;
    }
  }
  expect("flush", got, 42);
}

static int fib(int n)
{
  int a, b;
  if (n < 2)
    return n;
#pragma omp task shared(a) if (n > 5)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

struct node { int value; struct node *next; };

static void tasks(void)
{
  int result = 0, sum = 0, order = 0;
  struct node *list = 0;
  for (int i = 1; i <= 60; i++) {
    struct node *n = malloc(sizeof *n);
    n->value = i, n->next = list, list = n;
  }
#pragma omp parallel num_threads(4)
#pragma omp single
  result = fib(15);
  expect("fib", result, 610);
#pragma omp parallel
  {
#pragma omp single nowait
    for (struct node *n = list; n; n = n->next) {
      int half[3] = {n->value, 2 * n->value, 0};
#pragma omp task firstprivate(half)
      {
        half[2] = half[0] + half[1];
#pragma omp task
        {
          int mine = n->value + half[2];
#pragma omp atomic
          sum += mine;
        }
      }
      half[0] = -1000;
    }
  }
  expect("tasks are done at the barrier", sum, 4 * 1830);
  sum = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp for
    for (int i = 0; i < 50; i++) {
#pragma omp task untied
#pragma omp atomic
      sum += i;
    }
#pragma omp master
    order = sum;
#pragma omp task shared(sum)
    {
#pragma omp critical
      sum++;
    }
#pragma omp taskwait
  }
  expect("before the barrier's end", order >= 1225 && order <= 1228, 1);
  expect("and after", sum, 1228);
#pragma omp task shared(sum)
  sum = -1;
#pragma omp taskwait
  expect("outside of regions", sum, -1);
}

static int grown; /* tasks, and tasks of tasks */

static void grow(int depth)
{
#pragma omp atomic
  grown++;
  for (int i = 0; depth > 0 && i < 3; i++) {
#pragma omp task
    grow(depth - 1);
  }
}

static void groups_of_tasks(void)
{
  int inner = -1, outer = -1, finals = 0, early = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#pragma omp taskgroup
    {
#pragma omp taskgroup
      grow(3);
      inner = grown;
#pragma omp task
      grow(2);
    }
    outer = grown;
    for (int i = 0; i < 20; i++) {
#pragma omp task final(i >= 15) shared(finals, early)
      {
        int own = omp_in_final(), done = 0;
#pragma omp task shared(done)
        done = 1 + omp_in_final();
        if (own) {
#pragma omp atomic
          early += done;
        }
#pragma omp taskwait
#pragma omp atomic
        finals += own;
      }
    }
  }
  int values[4] = {0}, *first = values, sum = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
    for (int i = 0; i < 4; i++) {
#pragma omp task depend(out : values[i]) shared(values)
      values[i] += i + 1;
    }
    for (int i = 0; i < 4; i++) {
#pragma omp task depend(in : values[i], first[0 : 1]) depend(inout : sum) shared(values, sum)
      sum = 10 * sum + values[i];
    }
  }
  expect("tasks that depend on others", sum + *first, 1235);
  expect("inner group", inner, 40);
  expect("outer group", outer, 53);
  expect("final tasks", finals, 5);
  expect("tasks of final tasks are done at once", early, 10);
}

static void routines(void)
{
  int inner = 0, levels = 0, team = 0, above = 0;
  expect("outside", omp_get_num_threads() + 10 * omp_get_thread_num() + 100 * omp_in_parallel(), 1);
  omp_set_num_threads(3);
  expect("asked for", omp_get_max_threads(), 3);
#pragma omp parallel reduction(+ : inner, levels, team, above)
  {
    team += omp_get_num_threads() + 10 * (omp_in_parallel() != 0);
#pragma omp parallel num_threads(4) reduction(+ : inner, levels)
    {
      inner += omp_get_num_threads();
      levels += omp_get_level() + 10 * omp_get_active_level();
    }
    above += omp_get_ancestor_thread_num(1) == omp_get_thread_num();
  }
  expect("nested regions have one thread", inner, 3);
  expect("levels", levels, 3 * 12);
  expect("team", team, 39);
  expect("ancestors", above, 3);
#pragma omp parallel if (calls < 0)
  expect("if", omp_get_num_threads(), 1);
  expect("processors", omp_get_num_procs() > 0 && omp_get_thread_limit() > 1, 1);
  omp_sched_t kind;
  int chunk;
  omp_set_schedule(omp_sched_dynamic, 5);
  omp_get_schedule(&kind, &chunk);
  expect("schedule", 10 * (int)kind + chunk, 25);
  double begin = omp_get_wtime();
  expect("time", omp_get_wtime() >= begin && omp_get_wtick() < 1, 1);
#ifndef _OPENMP
  expect("_OPENMP", 0, 1);
#endif
}

static void many_regions(void)
{
  long sum = 0;
  for (int i = 0; i < 2000; i++) {
#pragma omp parallel num_threads(i % 5 + 1) reduction(+ : sum)
    {
      sum++;
#pragma omp barrier
#pragma omp for schedule(dynamic) nowait
      for (int j = 0; j < 3; j++)
        sum += 10;
    }
  }
  expect("many regions", sum, 6000 + 60000);
}

static int from_void_parameter(int n, double (*matrix)[n], int rows)
{
  double copy[n], trace = 0;
  for (int j = 0; j < n; j++)
    copy[j] = j;
#pragma omp parallel for reduction(+ : trace) firstprivate(copy)
  for (int i = 0; i < rows; i++) {
    copy[0] = 1;
    for (int j = 0; j < n; j++)
      trace += matrix[i][j] * copy[j];
  }
  return (int)trace;
}

static void variable_lengths(void)
{
  double m[6][5];
  for (int i = 0; i < 30; i++)
    m[0][i] = i % 5;
  expect("arrays of variable length", from_void_parameter(5, m, 6), 6 * (0 + 1 + 4 + 9 + 16));
}

int main(void)
{
  of_threads();
  exclusion();
  handed_on();
  tasks();
  groups_of_tasks();
  omp_set_dynamic(0);
  routines();
  many_regions();
  variable_lengths();
  printf("threads: %s\n", failures || unused != 1 ? "FAILED" : "as expected");
  return failures != 0;
}
