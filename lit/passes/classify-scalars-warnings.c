// RUN: accopt %s -o /dev/null --emit=data 2>&1 | filecheck %s
// RUN: accopt %s -o /dev/null --emit=data -Wall 2>&1 | filecheck %s --check-prefix WALL

// WALL: warning: generating implicit reduction(max:e): every iteration updates 'e'
// WALL:     help: write reduction(max:e)
// WALL: note: it is read here
// WALL: note: it is assigned here
double fmax(double, double);
double largest(int n, const double *a, double e)
{
#pragma acc parallel loop copyin(a[0:n])
    for (int i = 0; i < n; i++)
        e = fmax(e, a[i]);
    return e;
}

// CHECK-NOT: implicit reduction
// CHECK: warning: iterations of this loop depend on each other through the value of 's'{{$}}
// CHECK: help: write private(s) if each iteration has a value of its own, reduction({{.*}}:s) if they are combined, or 'loop seq'
double read_and_summed(int n, const double *a, double *b)
{
    double s = 0;
#pragma acc parallel loop copyin(a[0:n]) copyout(b[0:n])
    for (int i = 0; i < n; i++) {
        s += a[i];
        b[i] = s;
    }
    return 0;
}

// In a kernels construct iterations in order give C's result.
// CHECK: warning: iterations of this loop depend on each other through the value of 's', so it runs sequentially
double two_operators(int n, const double *a)
{
    double s = 0;
#pragma acc kernels loop independent copyin(a[0:n])
    for (int i = 0; i < n; i++) {
        s += a[i];
        s *= 2;
    }
    return s;
}

// CHECK: warning: the value of 't' after this loop is that of the last iteration which assigns it, so it runs sequentially
int some_last(int n, const int *a)
{
    int t = 0;
#pragma acc kernels loop independent copyin(a[0:n])
    for (int i = 0; i < n; i++)
        if (a[i] > 3)
            t = a[i];
    return t;
}

// CHECK: warning: the value assigned to 't' here is lost at the end of the construct, in which 't' is firstprivate
int lost(int n, const int *a, int *b)
{
    int t = 0;
#pragma acc parallel loop copyin(a[0:n]) copyout(b[0:n])
    for (int i = 0; i < n; i++) {
        t = a[i];
        b[i] = t;
    }
    return t;
}

// CHECK: warning: the value assigned to 'count' here is lost at the end of the construct, in which 'count' is firstprivate
// CHECK-NOT: warning: the value assigned to 'shared'
int counted(int n, const int *a)
{
    int count = 0, shared = 0;
#pragma acc parallel loop copyin(a[0:n]) copy(shared)
    for (int i = 0; i < n; i++) {
        if (a[i] > 3) {
#pragma acc atomic update
            count++;
        }
#pragma acc atomic update
        shared++;
    }
    return count + shared;
}

// CHECK: warning: every iteration of the loop around has its own 'd' and uses this loop's result in it, so gangs cannot share this loop: its gang clause is ignored
void gang_inside(int n, const int *a, int *b)
{
    int d;
#pragma acc parallel loop copyin(a[0:n]) copyout(b[0:n])
    for (int i = 0; i < n; i++) {
        d = 0;
#pragma acc loop gang reduction(+:d)
        for (int j = 0; j < n; j++)
            d += a[j];
        b[i] = d;
    }
}

// CHECK: warning: 's' is reduced with '+', but updated with 'max' here
int mixed(int n, const int *a)
{
    int s = 0;
#pragma acc parallel loop gang reduction(+:s) copyin(a[0:n])
    for (int i = 0; i < n; i++) {
#pragma acc loop vector
        for (int j = 0; j < n; j++)
            if (a[j] > s)
                s = a[j];
    }
    return s;
}

// Arrays that iterations share for want of a clause: each gets its own where it fills it first, else one warning.
// WALL: warning: generating implicit private(own): every iteration fills 'own' before it reads it
// WALL:     help: write private(own)
// CHECK-NOT: 'own'
// CHECK: warning: iterations of this loop depend on each other through elements of 'carried', so it runs sequentially
// CHECK:     help: write 'loop seq', or combine the values in a scalar with a reduction clause, or use atomic
// CHECK: note: it is assigned here
// CHECK-NOT: which they share
// CHECK-NOT: 'elements'
void arrays(int n, const int *a, int *b)
{
    int own[3], carried[3] = {1, 2, 3}, elements[8], k;
#pragma acc parallel loop copyin(a[0:n]) copyout(b[0:n])
    for (int i = 0; i < n; i++) {
        for (k = 0; k < 3; k++)
            own[k] = a[i] + k;
        b[i] = own[0] * own[2];
    }
#pragma acc parallel loop copyin(a[0:n]) copyout(b[0:n])
    for (int i = 0; i < n; i++) {
        for (k = 0; k < 3; k++)
            carried[k] += a[i];
        b[i] = carried[0] * carried[2];
    }
#pragma acc parallel loop copyin(a[0:8])
    for (int i = 0; i < 8; i++)
        elements[i] = a[i];
    b[0] = elements[3];
}

// Iterations that go on with what they reduce, whichever directive has the clause; not where each sets it first.
// CHECK: warning: iterations of this loop use the value of 'sum' while it is reduced: the value that each sees depends on how
// CHECK:     help: use 'sum' after the loop, or write 'loop seq'
// CHECK: note: it is read here
// CHECK: warning: iterations of this loop use the value of 'most' while it is reduced
// CHECK-NOT: 'each'
double partial(int n, double *a, double *b)
{
    double sum = 0, most = 0, each = 0;
    int i, j;
#pragma acc parallel loop reduction(+:sum) copyin(a[0:n]) copyout(b[0:n])
    for (i = 0; i < n; i++) {
        sum += a[i];
        b[i] = sum;
    }
#pragma acc parallel reduction(max:most) copy(a[0:n])
    {
#pragma acc loop
        for (i = 0; i < n; i++) {
            most = a[i] > most ? a[i] : most;
            if (most > 3)
                a[i] = 0;
        }
    }
#pragma acc parallel loop gang reduction(+:each) copyin(a[0:n]) copyout(b[0:n])
    for (i = 0; i < n; i++) {
        each = 0;
#pragma acc loop vector reduction(+:each)
        for (j = 0; j < n; j++)
            each += a[j];
        b[i] = each;
    }
    return sum + most;
}
