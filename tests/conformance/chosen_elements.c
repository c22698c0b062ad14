/* Loops that search for the place of the least or greatest element, with what may change it meanwhile. */
#include "check.h"

enum { ROWS = 12, MOST = 9 };
struct pair {
    float x;
    int k;
};
static float x[ROWS][MOST], y[ROWS][MOST], z[ROWS][MOST];
static struct pair p[ROWS][MOST];
static int place[ROWS];

/* The program's search, on the device and on the host. */
#define FIRST(row)                                                                \
    int b = 0;                                                                    \
    for (int j = 1; j < m; j++)                                                   \
        if (row[j] > row[b])                                                      \
            b = j
#define BOTH(row)                                                                 \
    int b = m ? m - 1 : 0, c = 0;                                                 \
    for (int j = 0; j < m; j++) {                                                 \
        b = row[j].x <= row[b].x ? j : b;                                         \
        if (row[j].k > row[c].k)                                                  \
            c = j;                                                                \
    }                                                                             \
    if (m && row[b].x == row[c].x)                                                \
        b += 100
#define SORT(row)                                                                 \
    for (int k = 0; k < m - 1; k++) {                                             \
        int b = k;                                                                \
        for (int j = k + 1; j < m; j++)                                           \
            if (row[j] < row[b])                                                  \
                b = j;                                                            \
        float t = row[b];                                                         \
        row[b] = row[k];                                                          \
        row[k] = t;                                                               \
    }
#define CHANGED(row)                                                              \
    int b = 0;                                                                    \
    for (int j = 1; j < m; j++) {                                                 \
        row[b] *= 0.5f;                                                           \
        if (row[j] > row[b])                                                      \
            b = j;                                                                \
    }
#define NEXT(row)                                                                 \
    int b = 0;                                                                    \
    for (int j = 0; j < m - 1; j++)                                               \
        if (row[j] > row[b])                                                      \
            b = j + 1

static void search(int m)
{
#pragma acc parallel loop copyin(x) copyout(place)
    for (int i = 0; i < ROWS; i++) {
        FIRST(x[i]);
        place[i] = b;
    }
    for (int i = 0; i < ROWS; i++) {
        FIRST(x[i]);
        CHECK_EQ(place[i], b);
    }
#pragma acc parallel loop copyin(p) copyout(place)
    for (int i = 0; i < ROWS; i++) {
        BOTH(p[i]);
        place[i] = b * 1000 + c;
    }
    for (int i = 0; i < ROWS; i++) {
        BOTH(p[i]);
        CHECK_EQ(place[i], b * 1000 + c);
    }
#pragma acc parallel loop copyin(x) copyout(place)
    for (int i = 0; i < ROWS; i++) {
        NEXT(x[i]);
        place[i] = b;
    }
    for (int i = 0; i < ROWS; i++) {
        NEXT(x[i]);
        CHECK_EQ(place[i], b);
    }
}

static void change(int m)
{
    memcpy(y, x, sizeof x);
    memcpy(z, x, sizeof x);
#pragma acc parallel loop copy(y)
    for (int i = 0; i < ROWS; i++)
        SORT(y[i]);
    for (int i = 0; i < ROWS; i++)
        SORT(z[i]);
    CHECK(memcmp(y, z, sizeof y) == 0);
    memcpy(y, x, sizeof x);
    memcpy(z, x, sizeof x);
#pragma acc parallel loop copy(y) copyout(place)
    for (int i = 0; i < ROWS; i++) {
        float own[MOST];
        for (int j = 0; j < MOST; j++)
            own[j] = y[i][j];
        SORT(own);
        CHANGED(y[i]);
        place[i] = b * 100 + (int)own[MOST / 2];
    }
    for (int i = 0; i < ROWS; i++) {
        float own[MOST];
        memcpy(own, x[i], sizeof own);
        SORT(own);
        CHANGED(z[i]);
        CHECK_EQ(place[i], b * 100 + (int)own[MOST / 2]);
    }
    CHECK(memcmp(y, z, sizeof y) == 0);
}

int main(void)
{
    unsigned r = 1;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < MOST; j++) {
            r = r * 1664525 + 1013904223;
            x[i][j] = (float)(r >> 28) - 7;
            p[i][j].x = x[i][j];
            p[i][j].k = r >> 24 & 7;
        }
    for (int m = 0; m <= MOST; m += m < 2 ? 1 : 7) {
        search(m);
        change(m);
    }
    return report();
}
