// RUN: accopt %s -o /dev/null --emit=data 2>&1 | filecheck %s

// Loops of one construct that need what other gangs do in a loop before.
#define N 64
double a[N][N], b[N][N], x[N], y[N];

void needed(int n)
{
#pragma acc parallel
    {
#pragma acc loop
        for (int j = 0; j < n; j++)
            x[j] = a[0][j];
        // CHECK: 15:13: warning: gangs do not wait for each other before this loop, which uses elements of 'x'
#pragma acc loop
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                b[i][j] = a[i][j] - x[j];
        // CHECK: 20:13: warning: gangs do not wait {{.*}} elements of 'b'
#pragma acc loop
        for (int i = 0; i < n - 1; i++)
            y[i] = b[i + 1][3] + a[i + 1][3];
    }
#pragma acc parallel num_gangs(16)
    for (int t = 0; t < 9; t++) {
#pragma acc loop gang
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                a[i][j] = t;
        // CHECK: 31:13: warning: gangs do not wait {{.*}} elements of 'a'
#pragma acc loop gang
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                b[i][j] = a[j][i];
    }
}

// The loop around brings the first after the second again.
void repeated(int n)
{
#pragma acc parallel
    for (int t = 0; t < 9; t++) {
        // CHECK: 44:13: warning: gangs do not wait {{.*}} elements of 'y'
#pragma acc loop
        for (int i = 1; i < n; i++)
            x[i] = y[i - 1];
        // CHECK: 48:13: warning: gangs do not wait {{.*}} which assigns elements of 'y' that other gangs use
#pragma acc loop
        for (int i = 1; i < n; i++)
            y[i] = x[i];
    }
}

// What other gangs read may be new already.
void overwritten(int n)
{
#pragma acc parallel
    {
#pragma acc loop
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i][j] = a[i - 1][j] + a[i + 1][j] + a[i][j - 1];
        // CHECK: 64:13: warning: gangs do not wait {{.*}} which assigns elements of 'a' that other gangs use
#pragma acc loop
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = b[i][j];
    }
}

// CHECK-NOT: warning
void same_gang(int n, int m, const int *place)
{
#pragma acc parallel
    {
#pragma acc loop
        for (int i = 0; i < n; i++)
            x[i] = i;
#pragma acc loop
        for (int i = 0; i < n; i++)
            y[i] = x[i];
#pragma acc loop
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                b[i][j] = x[i] + y[i];
#pragma acc loop
        for (int i = 0; i < n; i++)
            a[i][0] = b[i][1] + x[place[i]] + y[i + m];
#pragma acc loop
        for (int i = 0; i < n; i++)
            x[i] = y[i] = b[i][0] = 0;
    }
#pragma acc parallel num_gangs(1)
    {
#pragma acc loop
        for (int i = 0; i < n; i++)
            x[i] = i;
#pragma acc loop
        for (int i = 1; i < n; i++)
            y[i] = x[i - 1];
    }
#pragma acc parallel
    {
#pragma acc loop worker
        for (int i = 0; i < n; i++)
            x[i] = i;
#pragma acc loop worker
        for (int i = 1; i < n; i++)
            y[i] = x[i - 1];
    }
#pragma acc parallel
    {
#pragma acc loop
        for (int i = 0; i < 8; i++)
            a[i][0] = i;
#pragma acc loop
        for (int i = 0; i < 8; i++)
            y[i] = a[8][1] + a[i][0];
    }
#pragma acc parallel loop
    for (int i = 0; i < n; i++) {
#pragma acc loop
        for (int j = 0; j < n; j++)
            a[i][j] = j;
#pragma acc loop
        for (int j = 1; j < n; j++)
            b[i][j] = a[i][j - 1];
    }
#pragma acc kernels
    {
        for (int j = 0; j < n; j++)
            x[j] = a[0][j];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                b[i][j] = a[i][j] - x[j];
    }
}
