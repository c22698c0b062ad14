/* Reductions of an array by a construct, by a loop in it, and by both; the array has no data clause. */
#include "check.h"

enum { N = 40 };
static double a[N][3];

#define IS_SUM(t) ((t)[0] == 780 && (t)[1] == 820 && (t)[2] == 860)

int main(void)
{
    double of_loop[3] = {0}, of_lanes[3] = {0}, of_gangs[3] = {0}, of_both[3] = {0}, inside[3] = {0};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < 3; j++)
            a[i][j] = i + j;
#pragma acc parallel
    {
#pragma acc loop gang reduction(+:of_loop)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < 3; j++)
                of_loop[j] += a[i][j];
    }
#pragma acc parallel
    {
#pragma acc loop gang vector reduction(+:of_lanes)
        for (int i = 0; i < N; i++)
#pragma acc loop seq
            for (int j = 0; j < 3; j++)
                of_lanes[j] += a[i][j];
    }
#pragma acc parallel num_gangs(2) reduction(+:of_gangs)
    {
#pragma acc loop gang
        for (int i = 0; i < N; i++)
            for (int j = 0; j < 3; j++)
                of_gangs[j] += a[i][j];
    }
#pragma acc parallel reduction(+:of_both)
    {
#pragma acc loop gang vector reduction(+:of_both)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < 3; j++)
                of_both[j] += a[i][j];
    }
#pragma acc parallel num_gangs(2) reduction(+:inside)
    {
#pragma acc loop gang
        for (int i = 0; i < N; i++)
#pragma acc loop vector reduction(+:inside)
            for (int j = 0; j < 3; j++)
                inside[j] += a[i][j];
    }
    CHECK(IS_SUM(of_loop) && IS_SUM(of_lanes) && IS_SUM(of_gangs) && IS_SUM(of_both) && IS_SUM(inside));
    return report();
}
