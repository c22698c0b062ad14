/* Maxima and minima of floating-point numbers in the forms in which programs keep them: the same as in order. */
#include <math.h>
#include <stdio.h>

#define N 1003
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((b) > (a) ? (a) : (b))
#define PRAGMA(text) _Pragma(#text)
#define FAILED(what) (printf("%s: wrong\n", what), ++wrong)

static float f[N], g[N];
static double d[N];
static int wrong;

#define KEPT(type, name, operator, first, array, update)                                                               \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        type m = first, expected = first;                                                                              \
        PRAGMA(acc parallel loop reduction(operator:m) copyin(array))                                                  \
        for (int i = 0; i < N; i++)                                                                                    \
        {                                                                                                              \
            type x = array[i];                                                                                         \
            update;                                                                                                    \
        }                                                                                                              \
        type found = m;                                                                                                \
        m = first;                                                                                                     \
        for (int i = 0; i < N; i++) {                                                                                  \
            type x = array[i];                                                                                         \
            if (!isnan(x)) {                                                                                           \
                update;                                                                                                \
            }                                                                                                          \
        }                                                                                                              \
        expected = m;                                                                                                  \
        if (found != expected) FAILED(#name);                                                                          \
    }

KEPT(float, chosen, max, -1.0f, f, m = x > m ? x : m)
KEPT(float, chosen_turned, max, -1.0f, f, m = m < x ? x : m)
KEPT(double, guarded, max, -1.0, d, if (x > m) m = x)
KEPT(double, guarded_equal, min, 1e9, d, if (x <= m) m = x)
KEPT(float, kept_otherwise, min, 1e9f, g, if (!(x >= m)) m = x)
KEPT(float, macro, max, -1.0f, g, m = MAX(m, x))
KEPT(double, macro_turned, min, 1e9, d, m = MIN(x, m))
KEPT(float, macros_nested, max, -1.0f, g, m = MAX(MAX(m, x), x * 0.5f + 3))
KEPT(float, twice, max, -1.0f, f, if (x > m) m = x; if (x + 1 > m) m = x + 1)
KEPT(double, called, max, -1.0, d, m = fmax(m, x))
KEPT(float, called_float, min, 1e9f, f, m = fminf(x, m))
KEPT(double, from_float, max, -1.0, f, if (x > m) m = x)
KEPT(float, from_double, min, 1e9f, d, if (x < m) m = x)
KEPT(double, distance, max, 0.0, f, m = MAX(m, fabs(x - 500.0)))

static void rows(void)
{
    double m = 0;
#pragma acc parallel loop gang reduction(max : m) copyin(d)
    for (int i = 0; i < N; i++) {
        double most = 0;
#pragma acc loop vector reduction(max : most)
        for (int j = 0; j <= i; j++)
            if (d[j] > most) most = d[j];
        m = MAX(m, most);
    }
    if (m != 1002) FAILED("rows");
}

static void beside_stores(void)
{
    float worst = 0;
#pragma acc parallel loop reduction(max : worst) copyin(g) copy(f)
    for (int i = 0; i < N; i++) {
        float change = g[i] - f[i];
        f[i] = g[i];
        worst = MAX(worst, fabsf(change));
    }
    if (worst != 7) FAILED("beside stores");
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        d[i] = i * 997L % 1003;
        g[i] = i * 601L % 1003;
        f[i] = i % 50 == 7 ? (float)NAN : g[i];
    }
    chosen(), chosen_turned(), guarded(), guarded_equal(), kept_otherwise(), macro(), macro_turned(), macros_nested();
    twice(), called(), called_float(), from_float(), from_double();
    for (int i = 0; i < N; i++) f[i] = g[i];
    distance(), rows();
    f[600] += 7;
    beside_stores();
    return wrong;
}
