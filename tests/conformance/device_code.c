/* C inside constructs: control flow, every arithmetic type, conversions, structures, mathematics. */
#include <float.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include "check.h"

#define N 256

static void control(void)
{
    int out[N], i, j, kind[N], primes = 0;

#pragma acc parallel loop copyout(out)
    for (i = 0; i < N; i++) {
        int steps = 0;
        unsigned long x = i + 1;
        while (x != 1) {
            x = x % 2 ? 3 * x + 1 : x / 2;
            if (++steps > 100)
                break;
        }
        out[i] = steps;
    }
    CHECK_EQ(out[26], 101);
    CHECK_EQ(out[5], 8);
#pragma acc parallel loop copyout(kind)
    for (i = 0; i < N; i++) {
        switch (i % 6) {
        case 0:
        case 1:
            kind[i] = 10;
            break;
        case 2:
            kind[i] = 20;
            if (i > 100)
                break;
            /* fall through */
        case 3:
            kind[i] = 30;
            break;
        default:
            kind[i] = -1;
        }
        if (i % 7 == 0)
            continue;
        kind[i]++;
    }
    for (i = 0; i < N; i++) {
        int w = i % 6 < 2 ? 10 : i % 6 == 2 ? (i > 100 ? 20 : 30) : i % 6 == 3 ? 30 : -1;
        CHECK_EQ(kind[i], w + (i % 7 != 0));
    }
#pragma acc parallel loop reduction(+:primes) private(j)
    for (i = 2; i < N; i++) {
        for (j = 2; j * j <= i; j++)
            if (i % j == 0)
                goto composite;
        primes++;
composite:;
    }
    CHECK_EQ(primes, 54);
#pragma acc parallel loop copyout(out)
    for (i = 0; i < N; i++) {
        int k = 0, total = 0;
        do {
            if (k % 3 == 0)
                continue;
            total += k;
        } while (++k < i % 10);
        out[i] = total;
        if (i % 2)
            out[i] = i > 100 && out[i] > 5 || i == 3 ? 1 : 2;
    }
    CHECK_EQ(out[8], 1 + 2 + 4 + 5 + 7);
    CHECK_EQ(out[3], 1);
    CHECK_EQ(out[5], 2);
}

static void integers(void)
{
    signed char sc[N];
    unsigned char uc[N];
    short ss[N];
    unsigned short us[N];
    int si[N], i;
    unsigned ui[N];
    long long sl[N];
    unsigned long long ul[N];
    bool bo[N];

#pragma acc parallel loop copyout(sc, uc, ss, us, si, ui, sl, ul, bo)
    for (i = 0; i < N; i++) {
        sc[i] = (signed char)(i * 3);
        uc[i] = (unsigned char)(i * 3 - 500);
        ss[i] = (short)(i * 1000);
        us[i] = (unsigned short)(i * -1000);
        si[i] = (i - 128) / 7 * 100 + (i - 128) % 7;
        ui[i] = (0u - i) / 7u + (0u - i) % 7u;
        sl[i] = ((long long)i << 40) - i * 12345678901LL;
        ul[i] = (0ull - i) >> 3 | 1ull << (i & 63);
        bo[i] = i & 4;
    }
    for (i = 0; i < N; i++) {
        CHECK(sc[i] == (signed char)(i * 3));
        CHECK(uc[i] == (unsigned char)(i * 3 - 500));
        CHECK(ss[i] == (short)(i * 1000));
        CHECK(us[i] == (unsigned short)(i * -1000));
        CHECK(si[i] == (i - 128) / 7 * 100 + (i - 128) % 7);
        CHECK(ui[i] == (0u - i) / 7u + (0u - i) % 7u);
        CHECK(sl[i] == ((long long)i << 40) - i * 12345678901LL);
        CHECK(ul[i] == ((0ull - i) >> 3 | 1ull << (i & 63)));
        CHECK(bo[i] == ((i & 4) != 0));
    }
#pragma acc parallel loop copy(si) copyin(sc, uc, us)
    for (i = 0; i < N; i++) {
        int t = sc[i] < uc[i] ? sc[i] + us[i] : ~uc[i];
        t = -t ^ (sc[i] >> 2) ^ (uc[i] << 3);
        t += (si[i] > 0) - (si[i] < 0) + !si[i];
        si[i] = t;
    }
    for (i = 0; i < N; i++) {
        int was = (i - 128) / 7 * 100 + (i - 128) % 7;
        int t = sc[i] < uc[i] ? sc[i] + us[i] : ~uc[i];
        t = -t ^ (sc[i] >> 2) ^ (uc[i] << 3);
        t += (was > 0) - (was < 0) + !was;
        CHECK_EQ(si[i], t);
    }
}

static void conversions(void)
{
    double d[N];
    float f[N];
    long l[N];
    unsigned u[N];
    int i, n[N];

#pragma acc parallel loop copyout(d, f, l, u, n)
    for (i = 0; i < N; i++) {
        d[i] = (i - 100) * 0.37;
        f[i] = (float)d[i] / 3;
        n[i] = (int)(d[i] * 10);
        l[i] = (long)(d[i] * 1e10);
        u[i] = (unsigned)(i * 1e7);
        d[i] += u[i] * 0.5 + (unsigned char)i + (short)-i;
        f[i] += l[i] > 0 ? 1.5f : -1;
    }
    for (i = 0; i < N; i++) {
        double e = (i - 100) * 0.37;
        CHECK_EQ(n[i], (int)(e * 10));
        CHECK_EQ(l[i], (long)(e * 1e10));
        CHECK_EQ(u[i], (unsigned)(i * 1e7));
        CHECK_NEAR(f[i], (float)e / 3 + (l[i] > 0 ? 1.5f : -1));
        CHECK_NEAR(d[i], e + u[i] * 0.5 + (unsigned char)i + (short)-i);
    }
}

typedef struct { float x, y, z; } Vec3;
typedef struct {
    Vec3 position, velocity;
    unsigned alive : 1, group : 5;
    int history[3];
    union { int i; float f; } tag;
} Particle;

static void structures(void)
{
    static Particle p[N];
    Particle *q = p;
    int i, k;

    for (i = 0; i < N; i++) {
        p[i].position.x = i;
        p[i].velocity.y = 1;
        p[i].alive = i % 2;
        p[i].group = i % 32;
    }
#pragma acc parallel loop copy(q[0:N])
    for (i = 0; i < N; i++) {
        Particle *me = &q[i], copy = *me;
        Vec3 step = {0.5f, copy.velocity.y, (float)i};
        me->position.x += step.x;
        me->position.y = step.y * 2;
        me->position.z = step.z;
        for (k = 0; k < 3; k++)
            me->history[k] = k * i + copy.group;
        me->group = copy.group + 1;
        me->alive = !copy.alive;
        if (i % 3 == 0)
            me->tag.f = 1.0f;
        else
            me->tag.i = i;
    }
    for (i = 0; i < N; i++) {
        CHECK_NEAR(p[i].position.x, i + 0.5);
        CHECK_NEAR(p[i].position.y, 2);
        CHECK_NEAR(p[i].position.z, i);
        CHECK_EQ(p[i].history[2], 2 * i + i % 32);
        CHECK_EQ(p[i].group, (i + 1) % 32);
        CHECK_EQ(p[i].alive, i % 2 == 0);
        CHECK_EQ(p[i].tag.i, i % 3 == 0 ? 0x3f800000 : i);
    }
}

static void mathematics(void)
{
    static double d[30][N];
    static float f[30][N];
    int i, k;

#pragma acc parallel loop copyout(d, f)
    for (i = 0; i < N; i++) {
        double x = 0.01 * (i + 1), y = 1.505 - 0.01 * i;
        float u = (float)x, v = (float)y;
        int e;
        double whole;
        d[0][i] = sin(x) + cos(x) + tan(x / 3);
        d[1][i] = asin(x / 3) + acos(x / 3) + atan(x) + atan2(x, y);
        d[2][i] = sinh(x) + cosh(x) + tanh(x);
        d[3][i] = exp(x) + exp2(x) + expm1(x);
        d[4][i] = log(x) + log2(x) + log10(x) + log1p(x);
        d[5][i] = sqrt(x) + cbrt(y) + hypot(x, y);
        d[6][i] = pow(x, y) + pow(y, 3) + pow(x, 0.5);
        d[7][i] = floor(y * 3) + ceil(y * 3) + trunc(y * 3) + round(y * 3) + rint(y * 3);
        d[8][i] = fabs(y) + fmod(x * 10, 1.3) + fmin(x, y) + fmax(x, y);
        d[9][i] = copysign(x, y) + fma(x, y, 1.0) + ldexp(x, 3);
        d[10][i] = erf(x) + erfc(x) + tgamma(x + 1) + lgamma(x + 1) + jn(i % 4, i / 4 * 0.5);
        d[11][i] = frexp(x, &e) + e;
        d[12][i] = modf(x * 7, &whole) + 2 * whole;
        d[13][i] = abs(i - 100) + labs(-5L * i) + lround(y * 5) + (isnan(x) ? 1 : 0) + (isinf(y) ? 1 : 0);
        d[14][i] = fdim(x, y) + remainder(x * 5, 2) + asinh(x) + atanh(x / 4) + acosh(x + 1);
        f[0][i] = sinf(u) + cosf(u) + tanf(u / 3);
        f[1][i] = expf(u) + logf(u) + sqrtf(u) + powf(u, v);
        f[2][i] = fabsf(v) + floorf(v * 3) + ceilf(v * 3) + fmodf(u * 10, 1.3f);
        f[3][i] = fminf(u, v) + fmaxf(u, v) + atan2f(u, v) + hypotf(u, v);
        f[4][i] = tanhf(u) + log10f(u) + exp2f(u) + cbrtf(u) + erff(u) + roundf(v * 3);
        f[5][i] = 1 / sqrtf(u) + u / v;
    }
    for (i = 0; i < N; i++) {
        double x = 0.01 * (i + 1), y = 1.505 - 0.01 * i;
        float u = (float)x, v = (float)y;
        int e;
        double whole, want[15];
        float wantf[6];
        want[0] = sin(x) + cos(x) + tan(x / 3);
        want[1] = asin(x / 3) + acos(x / 3) + atan(x) + atan2(x, y);
        want[2] = sinh(x) + cosh(x) + tanh(x);
        want[3] = exp(x) + exp2(x) + expm1(x);
        want[4] = log(x) + log2(x) + log10(x) + log1p(x);
        want[5] = sqrt(x) + cbrt(y) + hypot(x, y);
        want[6] = pow(x, y) + pow(y, 3) + pow(x, 0.5);
        want[7] = floor(y * 3) + ceil(y * 3) + trunc(y * 3) + round(y * 3) + rint(y * 3);
        want[8] = fabs(y) + fmod(x * 10, 1.3) + fmin(x, y) + fmax(x, y);
        want[9] = copysign(x, y) + fma(x, y, 1.0) + ldexp(x, 3);
        want[10] = erf(x) + erfc(x) + tgamma(x + 1) + lgamma(x + 1) + jn(i % 4, i / 4 * 0.5);
        want[11] = frexp(x, &e) + e;
        want[12] = modf(x * 7, &whole) + 2 * whole;
        want[13] = abs(i - 100) + labs(-5L * i) + lround(y * 5);
        want[14] = fdim(x, y) + remainder(x * 5, 2) + asinh(x) + atanh(x / 4) + acosh(x + 1);
        wantf[0] = sinf(u) + cosf(u) + tanf(u / 3);
        wantf[1] = expf(u) + logf(u) + sqrtf(u) + powf(u, v);
        wantf[2] = fabsf(v) + floorf(v * 3) + ceilf(v * 3) + fmodf(u * 10, 1.3f);
        wantf[3] = fminf(u, v) + fmaxf(u, v) + atan2f(u, v) + hypotf(u, v);
        wantf[4] = tanhf(u) + log10f(u) + exp2f(u) + cbrtf(u) + erff(u) + roundf(v * 3);
        wantf[5] = 1 / sqrtf(u) + u / v;
        for (k = 0; k < 15; k++)
            if (!(isnan(want[k]) && isnan(d[k][i])))
                CHECK_NEAR(d[k][i], want[k]);
        for (k = 0; k < 6; k++)
            if (!(isnan(wantf[k]) && isnan(f[k][i])))
                CHECK(fabsf(f[k][i] - wantf[k]) <= 1e-4f * (1 + fabsf(wantf[k])));
    }
}

static void arrays(int rows, int cols)
{
    double vla[rows][cols], (*m)[cols] = malloc(sizeof(double[rows][cols])), **lines;
    int i, j;
    char words[4][8] = {"ab", "cde", "", "xyz"};
    int lengths[4];

#pragma acc parallel loop collapse(2) copyout(vla) copyout(m[0:rows])
    for (i = 0; i < rows; i++)
        for (j = 0; j < cols; j++) {
            vla[i][j] = i * cols + j;
            m[i][j] = -vla[i][j];
        }
    CHECK_NEAR(vla[rows - 1][cols - 1], rows * cols - 1);
    CHECK_NEAR(m[2][3], -(2 * cols + 3));
    lines = malloc(rows * sizeof *lines);
    for (i = 0; i < rows; i++)
        lines[i] = m[i];
#pragma acc data copyin(lines[0:rows])
    {
        for (i = 0; i < rows; i++) {
#pragma acc enter data copyin(lines[i][0:cols])
        }
#pragma acc parallel loop collapse(2) present(lines)
        for (i = 0; i < rows; i++)
            for (j = 0; j < cols; j++)
                lines[i][j] *= 2;
        for (i = 0; i < rows; i++) {
#pragma acc exit data copyout(lines[i][0:cols])
        }
    }
    CHECK_NEAR(m[2][3], -2 * (2 * cols + 3));
#pragma acc parallel loop copyin(words) copyout(lengths)
    for (i = 0; i < 4; i++) {
        const char *w = words[i];
        int local[8] = {0}, n = 0;
        static const int weight[4] = {1, 10, 100, 1000};
        while (*w)
            local[n++] = *w++;
        lengths[i] = n * weight[i] + (n > 0 ? local[0] == "axax"[i % 4] : 0);
    }
    CHECK_EQ(lengths[0], 3);
    CHECK_EQ(lengths[1], 30);
    CHECK_EQ(lengths[2], 0);
    CHECK_EQ(lengths[3], 3001);
    free(lines);
    free(m);
}

int main(void)
{
    control();
    integers();
    conversions();
    structures();
    mathematics();
    arrays(7, 9);
    return report();
}
