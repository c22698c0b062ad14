/* Complex functions of infinities, zeros, NaNs and large numbers (C11, annex G): iterations that grow without end. */
/* A fault is a wrong result: always in the simulator. */
#include "check.h"
#include <complex.h>

enum { KINDS = 14 };
static double out[KINDS][2];
static float outf[KINDS][2];

#define PUT(k, z) (out[k][0] = creal(z), out[k][1] = cimag(z))
#define PUTF(k, z) (outf[k][0] = crealf(z), outf[k][1] = cimagf(z))

static int is(double x, double wanted)
{
    return isnan(wanted) ? isnan(x) : isinf(wanted) ? x == wanted : fabs(x - wanted) <= 1e-5 * (1 + fabs(wanted));
}

/* A Julia set whose loop does not end early: the numbers outside become infinite. */
static int inside(float x, float y)
{
    float complex z = x + y * I;
    for (int i = 0; i < 60; i++)
        z = cpowf(z, 2) - 0.8f + 0.156f * I;
    return !(cabsf(z) > 1000);
}

int main(void)
{
    double big = 1e30, inf = INFINITY, none = NAN;
    int sum = 0;
#pragma acc parallel loop reduction(+:sum) copyin(big, inf, none) copy(out, outf)
    for (int i = 0; i < 64; i++) {
        sum += inside(i / 16 * 0.3f, i % 16 * 0.1f);
        if (i == 0) {
            PUT(0, cexp(CMPLX(inf, none))), PUTF(0, cexpf(CMPLXF(inf, none)));
            PUT(1, cexp(CMPLX(-inf, none))), PUTF(1, cexpf(CMPLXF(-inf, none)));
            PUT(2, csqrt(CMPLX(-1, -inf))), PUTF(2, csqrtf(CMPLXF(-1, -inf)));
            PUT(3, csqrt(CMPLX(-inf, 2))), PUTF(3, csqrtf(CMPLXF(-inf, 2)));
            PUT(4, csqrt(CMPLX(inf, 2))), PUTF(4, csqrtf(CMPLXF(inf, 2)));
            PUT(5, csqrt(CMPLX(0, -8))), PUTF(5, csqrtf(CMPLXF(0, -8)));
            PUT(6, ctanh(CMPLX(big, 1))), PUTF(6, ctanhf(CMPLXF(big, 1)));
            PUT(7, ctanh(CMPLX(-0.5, 2))), PUTF(7, ctanhf(CMPLXF(-0.5, 2)));
            PUT(8, ctan(CMPLX(1, -big))), PUTF(8, ctanf(CMPLXF(1, -big)));
            PUT(9, ccosh(CMPLX(inf, 0))), PUTF(9, ccoshf(CMPLXF(inf, 0)));
            PUT(10, csinh(CMPLX(inf, 0))), PUTF(10, csinhf(CMPLXF(inf, 0)));
            PUT(11, csin(CMPLX(2, 1))), PUTF(11, csinf(CMPLXF(2, 1)));
            PUT(12, ccos(CMPLX(2, 1))), PUTF(12, ccosf(CMPLXF(2, 1)));
            PUT(13, csqrt(CMPLX(-4, -0.0))), PUTF(13, csqrtf(CMPLXF(-4, -0.0f)));
        }
    }
    const double wanted[KINDS][2] = {
        {INFINITY, NAN}, {0, 0}, {INFINITY, -INFINITY}, {0, INFINITY}, {INFINITY, 0}, {2, -2}, {1, 0},
        {-1.321286, -0.850878}, {0, -1}, {INFINITY, 0}, {INFINITY, 0}, {1.403119, -0.489056},
        {-0.642148, -1.068607}, {0, -2},
    };
    for (int k = 0; k < KINDS; k++)
        for (int part = 0; part < 2; part++) {
            if (!is(out[k][part], wanted[k][part]) || !is(outf[k][part], wanted[k][part]))
                printf("%d.%d: %g %g\n", k, part, out[k][part], outf[k][part]);
            CHECK(is(out[k][part], wanted[k][part]));
            CHECK(is(outf[k][part], wanted[k][part]));
        }
    CHECK_EQ(sum, 9);
    return report();
}
