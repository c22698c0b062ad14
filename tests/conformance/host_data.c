/* host_data: device addresses on the host, if, if_present; calls of routines with device pointers. */
#include <openacc.h>
#include "check.h"

#define N 50

static void twice(int n, double *device)
{
    int i;
#pragma acc parallel loop deviceptr(device)
    for (i = 0; i < n; i++)
        device[i] *= 2;
}

int main(void)
{
    double a[N], *p = malloc(N * sizeof(double)), *seen;
    int i;

    for (i = 0; i < N; i++)
        a[i] = i, p[i] = -i;
#pragma acc data copy(a, p[0:N])
    {
#pragma acc host_data use_device(a, p)
        {
            CHECK((void *)a == acc_deviceptr(acc_hostptr(a)));
            twice(N, a);
            twice(N, p);
        }
        seen = a;
#pragma acc host_data use_device(p) if(0)
        seen = p;
        CHECK(seen == p);
        CHECK(acc_is_present(a, sizeof a));
    }
    CHECK_NEAR(a[10], 20);
    CHECK_NEAR(p[10], -20);
#pragma acc host_data use_device(p) if_present
    seen = p;
    CHECK(seen == p);
    free(p);
    return report();
}
