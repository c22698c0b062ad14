// RUN: accopt %s -o /dev/null --emit=data 2>&1 | filecheck %s

// A scalar whose address goes to functions that update it atomically is shared, as where the loop does it itself.
#pragma acc routine seq
static int take(int *p, int v)
{
    int old;
#pragma acc atomic capture
    { old = *p; *p += v; }
    return old;
}
#pragma acc routine seq
static void twice(int *p, int v)
{
    take(p, v);
#pragma acc atomic
    *p += v;
}
#pragma acc routine seq
static void again(int *p, int v)
{
    if (v > 0) {
#pragma acc atomic write
        *p = v;
        again(p, v - 1);
    }
}
#pragma acc routine seq
static void plain(int *p, int v)
{
    take(p, v);
    *p += v;
}
#pragma acc routine seq
static void through(int *p, int v)
{
    plain(p, v);
}

// CHECK-NOT: through the value of '{{(a|b|c)}}'
int all(int n, int *restrict out)
{
    int a = 0, b = 0, c = 0, d = 0, e = 0;
#pragma acc parallel loop copy(a, b, c) copyout(out[0:n])
    for (int i = 0; i < n; i++) {
        out[i] = take(&a, i);
        twice(&b, i);
        again(&c, i);
    }
    // CHECK: may depend on each other through the value of 'd'
#pragma acc parallel loop copy(d)
    for (int i = 0; i < n; i++)
        plain(&d, i);
    // CHECK: may depend on each other through the value of 'e'
#pragma acc parallel loop copy(e)
    for (int i = 0; i < n; i++)
        through(&e, i);
    return a + b + c + d + e;
}
