/* Loads of several iterations of a thread's loop come before what they store, if these are other elements. */
/* A fault is a wrong result: always in the simulator. */
#include "check.h"

#define ROWS 24
#define M 5

static int a[ROWS][M], b[ROWS][M], expected_a[ROWS][M], expected_b[ROWS][M], at[ROWS];

#define SEQ _Pragma("acc loop seq")
#define NOTHING

/* One row apart, and a number of rows that only the run knows. */
#define SHIFTED(name, element, outer, inner)                 \
    static void name(int n, int m, int by, int *x, int *y) { \
        outer for (int j = 0; j < m; j++) {                  \
            int s = 1;                                       \
            inner for (int i = 0; i < n; i++) {              \
                s = 3 * s + x[(i + by) * m + j];             \
                y[element * m + j] = s;                      \
                x[element * m + j] ^= s;                     \
            }                                                \
        }                                                    \
    }
#define POINTERS _Pragma("acc parallel loop present(x[:ROWS * M], y[:ROWS * M], at)")
SHIFTED(plain, (i + 1), NOTHING, NOTHING)
SHIFTED(plain_at, at[i], NOTHING, NOTHING)
SHIFTED(on_device, (i + 1), POINTERS, SEQ)
SHIFTED(on_device_at, at[i], POINTERS, SEQ)

/* Stages of a transform: short loops, and long ones around them. */
#define STAGES(name, by, outer, inner)                                       \
    static void name(int n, int l) {                                         \
        outer for (int j = 0; j < M; j++)                                    \
            inner for (int p = 0; p < n / l; p++)                            \
                inner for (int k = 0; k < l; k += by)                        \
                    b[p * l + k][j] = 7 * a[(p * l + k) ^ 1][j] + p;         \
    }
#define ARRAYS _Pragma("acc parallel loop present(a, b)")
STAGES(stages_plain, 1, NOTHING, NOTHING)
STAGES(threes_plain, 3, NOTHING, NOTHING)
STAGES(stages, 1, ARRAYS, SEQ)
STAGES(threes, 3, ARRAYS, SEQ)

static void fill(void) {
    for (int i = 0; i < ROWS; i++) {
        at[i] = i * 7 % ROWS;
        for (int j = 0; j < M; j++)
            a[i][j] = 5 * i + j, b[i][j] = i - j;
    }
}

static void keep(void) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < M; j++)
            expected_a[i][j] = a[i][j], expected_b[i][j] = b[i][j];
}

static int differences(void) {
    int found = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < M; j++)
            found += (a[i][j] != expected_a[i][j]) + (b[i][j] != expected_b[i][j]);
    return found;
}

typedef void kernel(int, int, int, int *, int *);

static void compare(kernel *reference, kernel *tried, int n, int by, int *y) {
    fill(), reference(n, M, by, &a[0][0], y), keep();
    fill();
#pragma acc data copy(a, b) copyin(at)
    tried(n, M, by, &a[0][0], y);
    CHECK_EQ(differences(), 0);
}

static void compare_stages(void reference(int, int), void tried(int, int), int l) {
    fill(), reference(16, l), keep();
    fill();
#pragma acc data copy(a, b)
    tried(16, l);
    CHECK_EQ(differences(), 0);
}

int main(void) {
    static const int lengths[] = {0, 1, 7, 8, 9, 20};
    for (int k = 0; k < 6; k++)
        for (int by = 0; by < 4; by++)
            for (int same = 0; same < 2; same++) {
                int *y = same ? &a[0][0] : &b[0][0];
                compare(plain, on_device, lengths[k], by, y);
                compare(plain_at, on_device_at, lengths[k], by, y);
            }
    for (int l = 1; l <= 16; l *= 2) {
        compare_stages(stages_plain, stages, l);
        compare_stages(threes_plain, threes, l);
    }
    return report();
}
