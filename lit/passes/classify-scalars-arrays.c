// RUN: accopt %s -o /dev/null --emit=data 2>&1 | filecheck %s

// Loops that iterations certainly pass on elements of arrays in run in order; what is not certain does not.
#define N 64
double a[N][N], x[N], y[N], v[N];
int start[N + 1], place[N];

void certain(int n)
{
#pragma acc parallel loop
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        // CHECK: warning: iterations of this loop depend on each other through elements of 'y', so it runs sequentially
#pragma acc loop
        for (int j = 0; j < n; j++)
            // CHECK: note: it is read here
            y[i] = y[i] + a[i][j] * x[j];
        // CHECK: warning: iterations of this loop depend on each other through elements of 'a', so it runs sequentially
#pragma acc loop vector
        for (int j = 1; j < n; j++)
            a[i][j] = a[i][j - 1] + 1;
    }
    // CHECK: warning: iterations of this loop depend on each other through elements of 'v', so it runs sequentially
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        v[i] = v[i + 1];
    // CHECK: warning: iterations of this loop depend on each other through elements of 'x', so it runs sequentially
#pragma acc parallel loop collapse(2)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i] += a[j][i];
    // CHECK: warning: iterations of this loop depend on each other through elements of 'v', so it runs sequentially
#pragma acc kernels loop independent
    for (int i = 2; i < n; i++)
        v[i] = v[i - 2];
    // Gangs that the program asks for all run it: not in order.
    // CHECK: warning: iterations of this loop depend on each other through elements of 'v'{{$}}
#pragma acc parallel loop num_gangs(8)
    for (int i = 2; i < n; i++)
        v[i] = v[i - 2];
    // CHECK: warning: iterations of this loop depend on each other through elements of 'v', so it runs sequentially
#pragma acc parallel loop
    for (int i = 0; i < 20; i++)
        v[i] = v[i + 19];
}

// CHECK-NOT: warning
void uncertain(int n, int k)
{
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        for (int j = start[i]; j < start[i + 1]; j++)
            v[j] = v[j] + 1;
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        y[place[i]] = y[i] + 1;
#pragma acc parallel loop
    for (int i = 1; i < n - 1; i += 2)
        v[i] = v[i - 1] + v[i + 1];
#pragma acc parallel loop collapse(2)
    for (int i = 1; i < n; i++)
        for (int j = 0; j < n; j++)
            if ((i + j) % 2)
                a[i][j] = a[i - 1][j] + 1;
#pragma acc parallel loop
    for (int i = 0; i < 20; i++)
        v[i] = v[i + 20] + 1;
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        v[i] = v[i + k] + v[i + 16];
#pragma acc parallel loop reduction(+:x)
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[j] += a[i][j];
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
#pragma acc atomic
            x[j] += a[i][j];
        }
#pragma acc parallel loop
    for (int i = 0; i < n; i++) {
        double w[4];
        for (int j = 0; j < 4; j++)
            w[j] = i;
        for (int j = 0; j < 4; j++)
            w[j] = w[j] + x[i];
        y[i] = w[3];
    }
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            a[i][j] = 0;
            for (int l = 0; l < n; l++)
                a[i][j] += x[l];
        }
}

// Gangs that share a loop add to their own copies of a reduced array, one iteration after the other.
double t[3];
// CHECK-NOT: warning
void gangs(int n, const double *restrict b)
{
#pragma acc parallel reduction(+:t) present(b[0:n])
#pragma acc loop gang
    for (int i = 0; i < n; i++) {
        t[0] += b[i];
        t[1] += 2;
    }
}
