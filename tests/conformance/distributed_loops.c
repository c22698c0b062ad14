/* Loops of kernels constructs that are parallel in parts only, after they have been divided or turned, and such as must stay. */
/* A fault is a wrong result: always in the simulator. */
#include <string.h>

#include "check.h"

enum { N = 23, M = 17 };

struct arrays {
    double t[N + 2], u[N + 2], z[N + 2], q[N], s[M], y[M];
};

static double a[N][M], p[M], r[N];

static void set(struct arrays *x)
{
    for (int i = 0; i < N + 2; i++)
        x->t[i] = x->u[i] = x->z[i] = i % 4;
    for (int i = 0; i < N; i++)
        x->q[i] = i;
    for (int j = 0; j < M; j++)
        x->s[j] = x->y[j] = j;
}

/* Runs BODY on arrays of its own in a kernels construct, and as it is. */
#define CASE(BODY)                                                             \
    {                                                                          \
        static struct arrays device, host;                                     \
        set(&device);                                                          \
        set(&host);                                                            \
        {                                                                      \
            double t[N + 2], u[N + 2], z[N + 2], q[N], s[M], y[M];             \
            GET(device)                                                        \
            _Pragma("acc kernels copy(t, u, z, q, s, y) copyin(a, p, r)"){BODY} PUT(device) \
        }                                                                      \
        {                                                                      \
            double t[N + 2], u[N + 2], z[N + 2], q[N], s[M], y[M];             \
            GET(host) { BODY } PUT(host)                                       \
        }                                                                      \
        CHECK_EQ(memcmp(&device, &host, sizeof host), 0);                      \
    }
#define EACH(OF, HOW) HOW(OF, t) HOW(OF, u) HOW(OF, z) HOW(OF, q) HOW(OF, s) HOW(OF, y)
#define FROM(OF, NAME) memcpy(NAME, OF.NAME, sizeof NAME);
#define TO(OF, NAME) memcpy(OF.NAME, NAME, sizeof NAME);
#define GET(OF) EACH(OF, FROM)
#define PUT(OF) EACH(OF, TO)
#define ROWS for (int i = 0; i < N; i++)
#define ROW for (int j = 0; j < M; j++)

static void divided(void)
{
    CASE(ROWS { q[i] = 0; ROW { s[j] += r[i] * a[i][j]; q[i] += a[i][j] * p[j]; } })
    CASE(ROWS { t[i] = 0; ROW t[i] += a[i][j] * p[j]; ROW y[j] += a[i][j] * t[i]; })
    CASE(ROWS { t[i] = r[i]; const double now = t[i]; ROW y[j] += a[i][j] * now; u[i] = now + 1; })
    CASE(ROWS { t[i] = r[i] + 1; u[i] = t[i] * 2; z[i + 1] = z[i] + u[i]; ROW s[j] += z[i + 1] * a[i][j]; })
    CASE(ROWS { if (r[i] > 0) t[i] = r[i]; ROW if (a[i][j] > t[i]) y[j] += a[i][j]; })
    CASE(ROWS { t[i + 1] = t[i] + r[i]; u[i] = t[i + 1]; q[i] = u[i] * 2; })
    CASE(ROWS { ROW { s[j] += a[i][j]; y[j] += s[j]; } })
}

static void whole(void)
{
    CASE(ROWS { t[i] = r[i]; const double next = t[i + 1]; u[i] = next + 1; ROW y[j] += a[i][j]; })
    CASE(ROWS { t[i] = 0; ROW t[i] += a[i][j] * p[j]; ROW y[j] += a[i][j] * t[i + 1]; })
    CASE(for (int i = 1; i < N; i++) { t[i] = 0; ROW t[i] += a[i][j] * p[j]; ROW y[j] += a[i][j] * t[i - 1]; })
    CASE(ROWS { const double old = t[i]; t[i] = r[i]; ROW y[j] += a[i][j] * old; })
    CASE(ROWS { t[i] = y[i % M]; ROW y[j] += a[i][j]; })
    CASE(ROWS { double w = 0; ROW w += a[i][j] * p[j]; ROW y[j] += a[i][j] * w; q[i] = w; })
    CASE(ROWS { ROW s[j] += a[i][j] * r[i]; ROW y[j] -= s[j]; })
    CASE(ROWS { t[i] = r[i]; u[i] = t[i]; t[i + 1] = 5; ROW y[j] += u[i]; })
    CASE(ROWS { ROW y[j] = y[M - 1 - j] + a[i][j]; })
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        r[i] = i % 5 - 2;
        for (int j = 0; j < M; j++)
            a[i][j] = (i * 3 + j) % 7 - 3;
    }
    for (int j = 0; j < M; j++)
        p[j] = j % 3 - 1;
    divided();
    whole();
    return report();
}
