// RUN: accopt %s -o /dev/null --emit=data 2>&1 | filecheck %s

// Pointers that a construct assigns and follows: from the host's value, or from one that it gives them.
int a[100], b[100];

void told(void)
{
    int *p = b, *q = a;
    // CHECK: pointers.c:13:10: warning: 'p' still has the host's value here, and device code dereferences it
    // CHECK: note: it is assigned here
#pragma acc kernels loop
    for (int i = 0; i < 100; i++)
        *p++ = a[i];
    // CHECK: warning: 'q' still has the host's value here
#pragma acc serial
    {
        b[0] = q[1];
        q = b;
        b[1] = q[0];
    }
}

// CHECK-NOT: warning
void untold(int n, int *r, int **rows)
{
    int *p, *q = b;
#pragma acc serial copyin(r[0:n])
    {
        p = b;
        for (int i = 0; i < 100; i++)
            *p++ = q[i] + r[i];
    }
#pragma acc parallel loop
    for (int i = 0; i < 100; i++) {
        p = a + i;
        *p = b[i];
    }
#pragma acc kernels
    for (int i = 0; i < 100; i++)
        q[i] = a[i];
}
