// RUN: accopt %s --emit=scheduled --pass-option 'schedule-loops{space=true}' | filecheck %s
// RUN: accopt %s --emit=scheduled --pass-option 'schedule-loops{choose="schedule-loops-space.c:17=1","schedule-loops-space.c:17#1=3"}' | filecheck %s --check-prefix CHOSEN
// RUN: accopt %s --emit=scheduled --pass-option 'schedule-loops{most="schedule-loops-space.c:17=2"}' | filecheck %s --check-prefix MOST

// Both loops of the kernels construct are constructs of their own, on one line. The first has a
// nest's schedules, the second those of one loop.
// CHECK: accx.schedules = ["1x256: gang(dim:2) x4 / gang vector", "1x128: gang / vector",
// CHECK: accx.schedules = ["1x256: gang vector x4", "1x256: gang vector", "1x256: gang vector x2"
// CHOSEN: vector_length(%c128
// CHOSEN-NOT: elements =
// CHOSEN: vector_length(%c256
// CHOSEN: elements = 8
// MOST: elements = 2
// MOST: elements = 2
void f(int n, float (*restrict a)[1024], const float *restrict b)
{
#pragma acc kernels copy(a[0:n]) copyin(b[0:n])
    {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < 1024; j++)
                a[i][j] = b[i] + j;
        for (int i = 0; i < n; i++)
            a[0][i] = b[i];
    }
}
