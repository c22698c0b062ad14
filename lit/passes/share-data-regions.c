// RUN: accopt %s --target=host --emit=data | filecheck %s
// RUN: accopt %s --target=nvptx --emit=data | filecheck %s --check-prefix=GPU
// RUN: accopt %s --target=host --emit=data --pass-option 'share-data-regions{enabled=false}' | filecheck %s --check-prefix=GPU
// RUN: accopt %s --target=host --emit=host --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// GPU-NOT: accx.shared
// REMARK: share-data-regions.c:19:13: remark: works in host memory on 'a', 'b', 'c' where not present: no copies

void outside(void);
double sum(const double *, int);
double *shelf;

// CHECK-LABEL: @steps
// CHECK: acc.copyin {{.*}}accx.shared{{.*}}name = "a"
// CHECK: acc.copyin {{.*}}accx.shared{{.*}}name = "b"
// CHECK: acc.create {{.*}}accx.shared{{.*}}name = "c"
void steps(int n, double *a, double *b, double *c)
{
#pragma acc data copyin(a[0:n]) copy(b[0:n]) copyout(c[0:n])
    for (int t = 0; t < 10; t++) {
#pragma acc parallel loop
        for (int i = 0; i < n; i++)
            c[i] = a[i] + b[i];
#pragma acc parallel loop
        for (int i = 0; i < n; i++)
            b[i] = c[i];
    }
}

// What constructs write under copyin must not come back, through whatever pointer: d may be a.
// CHECK-LABEL: @written
// CHECK-NOT: accx.shared{{.*}}name = "a"
// CHECK: acc.copyin {{.*}}accx.shared{{.*}}name = "b"
void written(int n, double *a, double *b, double *d)
{
#pragma acc data copyin(a[0:n]) copy(b[0:n])
    {
#pragma acc parallel loop copy(d[0:n])
        for (int i = 0; i < n; i++)
            d[i] = b[i] + a[i];
    }
}

// The host reads a, which is what it was, and b, which is not; it may write c.
// CHECK-LABEL: @looks
// CHECK: acc.copyin {{.*}}accx.shared{{.*}}name = "a"
// CHECK-NOT: accx.shared
double looks(int n, const double *restrict a, double *restrict b, double *restrict c)
{
    double s = 0;
#pragma acc data copyin(a[0:n]) copy(b[0:n], c[0:n])
    {
#pragma acc parallel loop
        for (int i = 0; i < n; i++)
            b[i] = a[i];
        s = a[0] + b[0];
        c[0] = s;
    }
    return s;
}

// Nobody knows what these do; what is queued may run when the host does; create never comes back.
// CHECK-LABEL: @unclear
// CHECK-NOT: accx.shared
void unclear(int n, double *a, double *b)
{
#pragma acc data copy(a[0:n])
    {
        outside();
#pragma acc parallel loop
        for (int i = 0; i < n; i++)
            a[i] = 1;
    }
#pragma acc data copy(a[0:n])
    {
#pragma acc parallel loop async
        for (int i = 0; i < n; i++)
            a[i] = 1;
    }
#pragma acc data copy(a[0:n])
    {
#pragma acc parallel loop
        for (int i = 0; i < n; i++)
            a[i] = 1;
#pragma acc update self(a[0:n])
    }
#pragma acc data create(b[0:n])
    {
#pragma acc parallel loop
        for (int i = 0; i < n; i++)
            b[i] = 1;
    }
}

// A pointer variable names the same array at the construct, unless the host has changed it.
// CHECK-LABEL: @steady
// CHECK: acc.copyin {{.*}}accx.shared{{.*}}name = "a"
// CHECK: acc.copyin {{.*}}accx.shared{{.*}}name = "shelf"
void steady(int n, double *a)
{
#pragma acc data copyin(a[0:n]) copy(shelf[0:n])
    {
#pragma acc parallel loop
        for (int i = 0; i < n; i++)
            shelf[i] = a[i];
    }
}

// CHECK-LABEL: @changed
// CHECK-NOT: accx.shared{{.*}}name = "a"
// CHECK: acc.copyin {{.*}}accx.shared{{.*}}name = "shelf"
void changed(int n, double *a)
{
#pragma acc data copyin(a[0:n]) copy(shelf[0:n])
    {
        shelf = a;
#pragma acc parallel loop present(shelf[0:n])
        for (int i = 0; i < n; i++)
            shelf[i] = 1;
    }
}

// Structures of numbers, with arrays and structures in them, are shared; a pointer in one might be attached, also in a union.
struct complex {
    double re, im;
};
struct matrix {
    struct complex e[3][3];
    int kind;
};
union word {
    long number;
    double *pointer;
};
struct tagged {
    double x;
    union word w;
};
struct linked {
    double x;
    double *next;
};

// CHECK-LABEL: @structures
// CHECK: acc.copyin {{.*}}accx.shared{{.*}}name = "a"
// CHECK: acc.copyin {{.*}}accx.shared{{.*}}name = "b"
// CHECK-NOT: accx.shared
void structures(int n, struct matrix *restrict a, struct complex *restrict b, struct tagged *restrict c,
                struct linked *restrict d)
{
#pragma acc data copyin(a[0:n]) copy(b[0:n], c[0:n], d[0:n])
    {
#pragma acc parallel loop
        for (int i = 0; i < n; i++) {
            b[i].re += a[i].e[1][2].im;
            c[i].x = b[i].re;
            d[i].x = b[i].re;
        }
    }
}
