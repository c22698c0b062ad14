// RUN: accopt %s -o /dev/null --emit=data 2>&1 | filecheck %s

// Elements that iterations share and assign under a condition; conditions that leave out a few iterations, or all
// but one.
struct pair { int x, y; };
int a[100], b[100], h[3], w[4], rows[10], place[100];

void told(int n)
{
    struct pair p = {0, 0};
    // CHECK: warning: iterations of this loop assign the same elements of 'w' under a condition
    // CHECK: help: write 'loop seq', or find the iteration by a reduction
    // CHECK-NOT: read here
    // CHECK: note: it is assigned here
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        if (a[i] > 6)
            w[2] = a[i];
    // CHECK: warning: iterations of this loop assign the same elements of 'w' under
#pragma acc parallel loop
    for (int i = 0; i < n; i++) {
        if (a[i] < 3)
            continue;
        for (int j = 0; j < 4; j++)
            w[j] = a[i];
    }
    // CHECK: warning: iterations of this loop assign the same elements of 'p' under
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        if (place[i] || i % 10 == 0) {
            p.x = a[i];
            p.y = i;
        }
    // CHECK: warning: iterations of this loop assign the same elements of 'w' under
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        if (place[i]) {
            w[0] = a[i];
            b[i] = w[0];
        }
    a[0] = p.x + p.y;
    // CHECK: warning: iterations of this loop may depend on each other through elements of 'h'
    // CHECK: note: it is read here
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        if (a[i] > 6)
            h[1] += 1;
    // CHECK: warning: iterations of this loop assign the same elements of 'rows' under
#pragma acc parallel loop gang
    for (int i = 0; i < 10; i++)
#pragma acc loop vector
        for (int j = 0; j < n; j++)
            if (a[j] > 3)
                rows[i] = j;
    // CHECK: warning: iterations of this loop may depend on each other through elements of 'rows'
#pragma acc parallel loop collapse(2)
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < n; j++)
            if (a[j] > i)
                rows[i]++;
    // Nearly all iterations are certain enough.
    // CHECK: warning: iterations of this loop depend on each other through elements of 'b', so it runs sequentially
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        if (i > 0)
            b[i] = b[i - 1] + a[i];
        else
            b[i] = 0;
    // CHECK: warning: iterations of this loop depend on each other through elements of 'b', so it runs sequentially
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        if (!(i < 1) && i <= n - 2)
            b[i] = b[i - 1] + b[i + 1];
    // CHECK: warning: iterations of this loop depend on each other through elements of 'b', so it runs sequentially
#pragma acc parallel loop
    for (int i = 0; i < 5; i++)
        if (i != 3)
            b[i] = b[i + 1];
}

// CHECK-NOT: warning
void untold(int n, int k)
{
    // One iteration.
#pragma acc parallel loop
    for (int i = 0; i < n; i++) {
        if (i == k)
            w[0] = a[i];
        if (i + 1 == n && a[i] > 0)
            w[1] = a[i];
        if (!(i != 3))
            w[2] = a[i];
        if (i != 5)
            continue;
        w[3] = a[i];
    }
#pragma acc parallel loop
    for (int i = 0; i < 10; i++)
#pragma acc loop
        for (int j = 0; j < 10; j++)
            if (j == 0)
                rows[i] = a[j] + i;
#pragma acc parallel loop collapse(2)
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < n; j++)
            if (j == k)
                rows[i] = a[j] + i;
    // Too few iterations, or every other one.
#pragma acc parallel loop
    for (int i = 0; i < n; i++) {
        if (i >= n - 1)
            b[i] = b[i - 1];
        if (i % 2 == 0)
            a[i] = a[i + 1];
    }
#pragma acc parallel loop
    for (int i = 0; i < 3; i++)
        if (i > 0)
            b[i] = b[i + 2];
    // One value, and what runs in order.
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        if (a[i] == 3)
            w[3] = k;
#pragma acc kernels
    for (int i = 0; i < n; i++)
        if (a[i] > 6)
            w[2] = a[i];
    // A copy of its own.
#pragma acc parallel loop private(w)
    for (int i = 0; i < n; i++)
        if (a[i] > 6) {
            w[0] = i;
            b[i] = w[0];
        }
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
        if (a[i] > 6) {
#pragma acc atomic write
            w[0] = i;
        }
}
