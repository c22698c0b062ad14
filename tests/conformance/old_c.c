/* C90 as old programs have it, and directives as compilers before this one took them (warnings, all of it). */
#include "check.h"

static const int radius = 3;
static const double step = 0.5;
static const int width = radius * 2 + 1;
static const double half = step / 2;
static const int *const where = &radius;
static const int *const there = where;
extern counter;
counter = 4;
static limit = 10;

#pragma acc routine seq
twice(n)
{
    return 2 * n;
}

#pragma acc routine seq
static float average(x, y, weights)
float x, y;
short *weights;
{
    float sum = x * weights[0] + y * weights[1];
    return sum / (weights[0] + weights[1]);
}

no_value(n)
int n;
{
    counter += n;
    if (n > 3)
        return;
    counter++;
}

int main(void)
{
    int i, t, a[100];
    float f[100];
    short w[2];
    w[0] = 1;
    w[1] = 3;

    CHECK_EQ(width, 7);
    CHECK_NEAR(half, 0.25);
    CHECK(there == &radius);
    CHECK_EQ(limit, 10);
    no_value(2);
    no_value(5);
    CHECK_EQ(counter, 12);
    CHECK_NEAR(average(1.0f, 2.0f, w), 1.75);
    CHECK_NEAR(average(1, 2, w), 1.75);
    CHECK_EQ(later(20), 21);

    /* data without clauses, private on kernels, a block around the loop */
#pragma acc data
    {
#pragma acc kernels copyout(a, f) copyin(w) private(i, t)
        {
#pragma acc loop independent
            for (i = 0; i < 100; i++) {
                t = twice(i);
                a[i] = t + 1;
            }
#pragma acc loop independent
            {
                for (i = 0; i < 100; i++) {
                    t = i % 7;
                    f[i] = average(t, i, w);
                }
            }
        }
    }
    for (i = 0; i < 100; i++) {
        CHECK_EQ(a[i], 2 * i + 1);
        CHECK_NEAR(f[i], ((i % 7) + 3.0 * i) / 4);
    }

    /* it waits all the same */
#pragma acc parallel loop copyout(a) async(1)
    for (i = 0; i < 100; i++)
        a[i] = i;
#pragma acc data wait(1)
    t = a[99];
    CHECK_EQ(t, 99);

    /* a variable of the private clause that is set outside of the loops keeps its value */
    t = 5;
#pragma acc kernels copyout(a) private(t)
    {
#pragma acc loop independent
        for (i = 0; i < 100; i++)
            a[i] = t * i;
    }
    for (i = 0; i < 100; i++)
        CHECK_EQ(a[i], 5 * i);
    return report();
}

later(n)
{
    return n + 1;
}
