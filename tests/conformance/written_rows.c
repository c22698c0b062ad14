/* Kernels constructs and auto loops that write rows behind arrays of pointers, which may be the same memory. */
/* A fault is a wrong result: always in the simulator. */
#include "check.h"
#include <string.h>

enum { N = 7, M = 33, SIZE = 4000 };
typedef struct { int n, m; double **row; } Grid;

static double memory[SIZE], expected[SIZE], *fixed[N];
static double *a[N], *b[N];

#define EACH(i, n) for (int i = 1; i < (n) - 1; i++)

/* Each function twice: with its directive, and as plain C. */
#define BOTH(name, parameters, directive, ...)                                                   \
  static void name parameters { _Pragma(directive) __VA_ARGS__ }                                  \
  static void name##_serial parameters { __VA_ARGS__ }

BOTH(smooth, (double **x, double **y, int n, int m),
     "acc kernels copy(x[0:n][0:m]) copyin(y[0:n][0:m])",
     EACH(i, n) EACH(j, m) x[i][j] = y[i - 1][j] + 0.5 * y[i + 1][j] - y[i][j - 1];)

BOTH(scale, (double **x, int n, int m), "acc kernels copy(x[0:n][0:m])",
     for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i][j] = 0.5 * x[i][j] + i + j;)

BOTH(add, (double **x, double *c, int n, int m), "acc kernels copy(x[0:n][0:m]) copy(c[0:m])",
     for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i][j] += c[j];)

BOTH(members, (Grid *x, Grid *y, int n, int m), "acc kernels copy(x->row[0:n][0:m]) copyin(y->row[0:n][0:m])",
     EACH(i, n) EACH(j, m) x->row[i][j] = y->row[i - 1][j] + i;)

BOTH(globals, (int m), "acc kernels copy(fixed[0:N][0:m])",
     for (int i = 0; i < N; i++) for (int j = 0; j < m; j++) fixed[i][j] = 3 * fixed[i][j] - i * j;)

BOTH(local, (double **x, int n, int m), "acc parallel loop auto copy(x[0:n][0:m])",
     for (int i = 1; i < n; i++) {
       double *row = x[i], *above = x[i - 1];
       for (int j = 0; j < m; j++) row[j] = above[m - 1 - j] + 1;
     })

BOTH(gather, (double **x, double **y, int *index, int n, int m),
     "acc kernels copy(x[0:n][0:m]) copyin(y[0:n][0:m], index[0:n])",
     for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i][j] = y[index[i]][j] * 2;)

BOTH(cubes, (float ***x, int n, int m), "acc kernels copy(x[0:n][0:n][0:m])",
     for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < m; k++)
       x[i][j][k] = 2 * x[i][j][k] + i - j;)

BOTH(letters, (unsigned char **x, unsigned char **y, int n, int m),
     "acc kernels copy(x[0:n][0:m]) copyin(y[0:n][0:m])",
     EACH(i, n) EACH(j, m) x[i][j] = y[i][j - 1] / 2 + y[i + 1][j] / 3;)

/* How the rows lie: in turn, backwards, shuffled, every second one twice, overlapping by half, all one. */
enum { IN_TURN, BACKWARDS, SHUFFLED, TWICE, HALVES, ONE, LAYOUTS };

static int place(int layout, int i) {
  switch (layout) {
  case BACKWARDS: return (N - 1 - i) * M;
  case SHUFFLED: return 3 * i % N * M;
  case TWICE: return i / 2 * M;
  case HALVES: return i * (M / 2);
  case ONE: return 0;
  }
  return i * M;
}

static void lay(double **rows, double *block, int layout) {
  for (int i = 0; i < N; i++)
    rows[i] = block + place(layout, i);
}

static void start(void) {
  for (int i = 0; i < SIZE; i++)
    memory[i] = i * 7 % 23;
}

#define COMPARE(call, serial)                                                                    \
  do {                                                                                           \
    start();                                                                                     \
    serial;                                                                                      \
    memcpy(expected, memory, sizeof memory);                                                     \
    start();                                                                                     \
    _Pragma("acc update device(memory)")                                                         \
    call;                                                                                        \
    _Pragma("acc update self(memory)")                                                           \
    CHECK(memcmp(expected, memory, sizeof memory) == 0);                                         \
  } while (0)

static void doubles(void) {
  int index[N] = {3, 1, 6, 0, 2, 5, 4};
  for (int layout = 0; layout < LAYOUTS; layout++) {
    Grid x = {N, M, a}, y = {N, M, b};
    lay(a, memory, layout);
    lay(fixed, memory, layout);
    COMPARE(scale(a, N, M), scale_serial(a, N, M));
    COMPARE(globals(M), globals_serial(M));
    COMPARE(local(a, N, M), local_serial(a, N, M));
    for (int other = 0; other < 3; other++) {
      /* the other array: apart, half a row on, the same */
      lay(b, memory + (other == 0 ? N * M : other == 1 ? M / 2 : 0), layout);
      COMPARE(smooth(a, b, N, M), smooth_serial(a, b, N, M));
      COMPARE(members(&x, &y, N, M), members_serial(&x, &y, N, M));
      COMPARE(gather(a, b, index, N, M), gather_serial(a, b, index, N, M));
    }
    double *apart = memory + 2 * N * M, *row = a[2];
    COMPARE(add(a, apart, N, M), add_serial(a, apart, N, M));
    COMPARE(add(a, row, N, M), add_serial(a, row, N, M));
  }
  lay(a, memory, IN_TURN);
  COMPARE(smooth(a, a, N, M), smooth_serial(a, a, N, M));
}

static void others(void) {
  static float *rows[2][N][N], **planes[2][N], cells[2][N * N * 5];
  static unsigned char *lines[2][2][N], bytes[2][3 * N * M];
  for (int layout = 0; layout < LAYOUTS; layout++) {
    for (int way = 0; way < 2; way++) {
      for (int i = 0; i < N; i++) {
        planes[way][i] = rows[way][layout == ONE ? 0 : i];
        for (int j = 0; j < N; j++)
          rows[way][i][j] = cells[way] + (layout == SHUFFLED ? 3 * (i * N + j) % (N * N) : i * N + j) * 5;
        lines[way][0][i] = bytes[way] + place(layout, i);
        lines[way][1][i] = bytes[way] + (layout == BACKWARDS ? M / 2 : N * M) + place(layout, i);
      }
      if (layout == TWICE)
        rows[way][3][2] = rows[way][0][4] + 2;
      for (int i = 0; i < N * N * 5; i++)
        cells[way][i] = i % 11;
      for (int i = 0; i < 3 * N * M; i++)
        bytes[way][i] = i * 5 % 251;
    }
#pragma acc enter data copyin(cells[1:1], bytes[1:1])
    cubes_serial(planes[0], N, 5);
    cubes(planes[1], N, 5);
    letters_serial(lines[0][0], lines[0][1], N, M);
    letters(lines[1][0], lines[1][1], N, M);
#pragma acc exit data copyout(cells[1:1], bytes[1:1])
    CHECK(memcmp(cells[0], cells[1], sizeof cells[0]) == 0);
    CHECK(memcmp(bytes[0], bytes[1], sizeof bytes[0]) == 0);
  }
}

/* The same call with other rows: the answer of before does not hold. */
static void again(void) {
  for (int round = 0; round < 4; round++) {
    lay(a, memory, round % 2 ? TWICE : IN_TURN);
    COMPARE(scale(a, N, M), scale_serial(a, N, M));
  }
}

int main(void) {
  /* Rows that overlap in part can only be mapped where all of them are present. */
#pragma acc enter data copyin(memory)
  doubles();
  others();
  again();
#pragma acc exit data delete(memory)
  return report();
}
