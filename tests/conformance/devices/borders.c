/* Exchanges of borders between devices after all kinds of constructs: the rows that are sent may be computed
   first, where that cannot be seen. Each form is compared with the same steps on the host. */
#include <openacc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 24, N = 12, SIZE = (ROWS + 2) * N, STEPS = 7, MOST = 4 };
typedef void form(int *restrict a, int *restrict b, int *restrict c, int step);

/* One construct: on a device by OpenACC, on the host without. */
#define BODY2(i, j) b[(i) * N + (j)] = (a[(i) * N + (j)-1] + 2 * a[(i) * N + (j) + 1] + 3 * a[((i)-1) * N + (j)] + 5 * a[((i) + 1) * N + (j)]) & 0xffff
#define PRAGMA_(text) _Pragma(#text)
#define PRAGMA(text) PRAGMA_(text)
#define FORM(name, directive, ...)                                                           \
  static void name##_acc(int *restrict a, int *restrict b, int *restrict c, int step) {      \
    PRAGMA(directive) __VA_ARGS__                                                           \
  }                                                                                          \
  static void name##_host(int *restrict a, int *restrict b, int *restrict c, int step) { __VA_ARGS__ }
#define DATA present(a[0:SIZE]) present(b[0:SIZE]) present(c[0:SIZE]) async(1)

FORM(collapsed, acc parallel loop collapse(2) DATA,
     for (int i = 1; i <= ROWS; i++) for (int j = 1; j < N - 1; j++) BODY2(i, j);)
static void levels_acc(int *restrict a, int *restrict b, int *restrict c, int step) {
#pragma acc parallel loop gang DATA
  for (int i = 1; i <= ROWS; i++) {
#pragma acc loop vector
    for (int j = 1; j < N - 1; j++) BODY2(i, j);
  }
}
FORM(plain, acc kernels DATA, for (int i = 1; i <= ROWS; i++) for (int j = 1; j < N - 1; j++) BODY2(i, j);)
FORM(downwards, acc parallel loop DATA, for (int i = ROWS; i >= 1; i--) for (int j = 1; j < N - 1; j++) BODY2(i, j);)
FORM(line, acc parallel loop DATA, for (int k = N; k < SIZE - N; k++) b[k] = (a[k - N] + a[k + N] + a[k - 1]) & 0xffff;)
FORM(cube, acc parallel loop collapse(3) DATA,
     for (int i = 1; i <= ROWS; i++) for (int j = 1; j < 3; j++) for (int k = 1; k < 2; k++)
       b[i * N + j * 3 + k] = (a[(i - 1) * N + j * 3 + k] + a[(i + 1) * N + (j - 1) * 3 + k] + a[i * N + j * 3 + k + 1]) & 0xffff;)
FORM(bounds, acc parallel loop collapse(2) DATA,
     for (int i = 1 + step % 3; i <= ROWS - step % 2; i++) for (int j = 1; j < N - 1; j++) BODY2(i, j);)
FORM(branches, acc parallel loop collapse(2) DATA,
     for (int i = 1; i <= ROWS; i++) for (int j = 0; j < N; j++) {
       if (j == 0 || j == N - 1) b[i * N + j] = a[i * N + j] + 1;
       else BODY2(i, j);
     })
FORM(guarded, acc parallel loop collapse(2) DATA,
     for (int i = 0; i < ROWS + 2; i++) for (int j = 0; j < N; j++) if (i > 0 && i <= ROWS && j > 0 && j < N - 1) BODY2(i, j);)
FORM(two_arrays, acc parallel loop collapse(2) DATA,
     for (int i = 1; i <= ROWS; i++) for (int j = 1; j < N - 1; j++) { BODY2(i, j); c[i * N + j] = a[i * N + j] * 3 & 0xffff; })
/* What must be computed once, or at one time. */
FORM(in_place, acc parallel loop collapse(2) DATA,
     for (int i = 1; i <= ROWS; i++) for (int j = 1; j < N - 1; j++) b[i * N + j] = (3 * b[i * N + j] + a[i * N + j]) & 0xffff;)
FORM(red_black, acc parallel loop collapse(2) DATA,
     for (int i = 1; i <= ROWS; i++) for (int j = 1; j < N - 1; j++)
       if ((i + j + step) % 2) b[i * N + j] = (b[i * N + j - 1] + b[(i - 1) * N + j] + b[(i + 1) * N + j]) & 0xffff;)
FORM(twice, acc parallel loop collapse(2) DATA,
     for (int i = 1; i <= ROWS; i++) for (int j = 1; j < N - 1; j++) { b[i * N + j] = 0; if (a[i * N + j] % 3) BODY2(i, j); })
static void sums_acc(int *restrict a, int *restrict b, int *restrict c, int step) {
#pragma acc parallel loop gang DATA
  for (int i = 1; i <= ROWS; i++) {
    int sum = 0;
#pragma acc loop vector reduction(+ : sum)
    for (int j = 0; j < N; j++) sum += a[i * N + j];
    b[i * N + 1] = sum & 0xffff;
  }
}
static void sums_host(int *restrict a, int *restrict b, int *restrict c, int step) {
  for (int i = 1; i <= ROWS; i++) {
    b[i * N + 1] = 0;
    for (int j = 0; j < N; j++) b[i * N + 1] = (b[i * N + 1] + a[i * N + j]) & 0xffff;
  }
}
FORM(counted, acc parallel loop DATA, for (int i = 1; i <= ROWS; i++) {
  PRAGMA(acc atomic update) c[0] += 1;
  for (int j = 1; j < N - 1; j++) BODY2(i, j);
})
FORM(scattered, acc parallel loop DATA, for (int i = 0; i < SIZE; i++) b[(i * 5 + N) % SIZE] = (a[i] + step) & 0xffff;)
FORM(turned, acc parallel loop collapse(2) DATA,
     for (int j = 1; j < N - 1; j++) for (int i = 1; i <= ROWS; i++) BODY2(i, j);)
FORM(sections, acc parallel loop collapse(2) present(a[N * (step % 2):SIZE - N]) present(b[N:ROWS * N]) async(1),
     for (int i = 1 + step % 2; i < ROWS; i++) for (int j = 1; j < N - 1; j++) BODY2(i, j);)

static struct { const char *name; form *acc, *host; } forms[] = {
#define ENTRY(name) {#name, name##_acc, name##_host}
  ENTRY(collapsed), {"levels", levels_acc, collapsed_host}, ENTRY(plain), ENTRY(downwards), ENTRY(line), ENTRY(cube), ENTRY(bounds), ENTRY(branches),
  ENTRY(guarded), ENTRY(two_arrays), ENTRY(in_place), ENTRY(red_black), ENTRY(twice), ENTRY(sums), ENTRY(counted),
  ENTRY(scattered), ENTRY(turned), ENTRY(sections),
};

static int devices;
static int *dev[MOST][3], *ref[MOST][3];

/* Copies `count` rows of grid `k` of device `d`, from row `from`, to row `to` of device `e`. */
static void copy(int e, int to, int d, int from, int k, int count, int way) {
  int *target = dev[e][k] + to * N, *source = dev[d][k] + from * N;
  memmove(ref[e][k] + to * N, ref[d][k] + from * N, 4 * N * count);
  if (way == 0) acc_memcpy_d2d_async(target, source, 4 * N * count, e, d, 1);
  if (way == 1) {
#pragma acc update peer to(target[0:count * N]) to_device(e) from(source[0:count * N]) from_device(d) async(1)
  }
  if (way == 2) {
    acc_set_device_num(d, acc_device_default);
    acc_wait(1);
    acc_set_device_num(e, acc_device_default);
    acc_wait(1);
    acc_update_peer(target, e, source, d, 4 * N * count);
  }
}

static void columns(int e, int d, int k) {
  int *target = dev[e][k], *source = dev[d][k];
  for (int i = 0; i < ROWS + 2; i++) ref[e][k][i * N] = ref[d][k][i * N + N - 2];
  int (*t)[N] = (int (*)[N])target, (*s)[N] = (int (*)[N])source;
#pragma acc update peer to(t[0:ROWS + 2][0:1]) to_device(e) from(s[0:ROWS + 2][N - 2:1]) from_device(d) async(1)
}

static int compare(void) {
  int bad = 0;
  for (int d = 0; d < devices; d++) {
    acc_set_device_num(d, acc_device_default);
    acc_wait_all();
    for (int k = 0; k < 3; k++) {
      acc_update_self(dev[d][k], SIZE * 4);
      for (int i = 0; i < SIZE; i++) bad += dev[d][k][i] != ref[d][k][i];
    }
  }
  return bad;
}

static int run(int number, int pattern) {
  for (int d = 0; d < devices; d++)
    for (int k = 0; k < 3; k++) {
      for (int i = 0; i < SIZE; i++) dev[d][k][i] = ref[d][k][i] = (i * (7 + k) + d * 31 + number) % 977;
      acc_set_device_num(d, acc_device_default);
      acc_update_device(dev[d][k], SIZE * 4);
    }
  for (int step = 0; step < STEPS; step++) {
    int from = pattern == 3 ? 0 : step % 2, to = 1 - from;
    for (int d = 0; d < devices; d++) {
      acc_set_device_num(d, acc_device_default);
      forms[number].acc(dev[d][from], dev[d][to], dev[d][2], step);
      forms[number].host(ref[d][from], ref[d][to], ref[d][2], step);
    }
    for (int d = 0; d < devices; d++) {
      int e = (d + 1) % devices;
      if (pattern == 4) {
        columns(e, d, to);
        continue;
      }
      if (e == d) {
        copy(d, 0, d, ROWS, to, 1, pattern % 2);
        continue;
      }
      if (e < d) continue;
      int width = pattern == 1 ? 2 : 1;
      copy(e, 0, d, ROWS + 1 - width, to, 1, pattern % 3);
      copy(d, ROWS + 1, e, width, to, 1, pattern % 3);
      if (pattern == 1) copy(e, ROWS / 2, d, ROWS / 2, 2, 1, 0);
      if (pattern == 2) copy(d, 3, e, 4, to, 2, 2); /* where it writes, too */
    }
  }
  return compare();
}

int main(void) {
  int failed = 0;
  devices = acc_get_num_devices(acc_device_default);
  if (devices > MOST) devices = MOST;
  for (int d = 0; d < devices; d++)
    for (int k = 0; k < 3; k++) {
      dev[d][k] = malloc(4 * SIZE);
      ref[d][k] = malloc(4 * SIZE);
      memset(dev[d][k], 0, 4 * SIZE);
      acc_set_device_num(d, acc_device_default);
      acc_copyin(dev[d][k], 4 * SIZE);
    }
  for (int number = 0; number < (int)(sizeof forms / sizeof *forms); number++)
    for (int pattern = 0; pattern < 5; pattern++) {
      int bad = run(number, pattern);
      if (bad) printf("%s failed: pattern %d, %d wrong\n", forms[number].name, pattern, bad);
      failed |= bad;
    }
  for (int d = 0; d < devices; d++)
    for (int k = 0; k < 3; k++) {
      acc_set_device_num(d, acc_device_default);
      acc_delete(dev[d][k], 4 * SIZE);
      free(dev[d][k]);
      free(ref[d][k]);
    }
  return failed != 0;
}
