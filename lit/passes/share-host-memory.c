// RUN: accopt %s --target=host --emit=data | filecheck %s
// RUN: accopt %s --target=nvptx --emit=data | filecheck %s --check-prefix=GPU
// RUN: accopt %s --target=host --emit=host --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// GPU-NOT: accx.in_place
// REMARK: works in host memory on 'a', 'b' where not present: no copies

void outside(float *a);

// CHECK-LABEL: @read
// CHECK: acc.copyin {{.*}}{accx.in_place{{.*}}name = "a"
// CHECK: acc.copyin {{.*}}{accx.in_place{{.*}}name = "b"
void read(int n, float *a, float *b)
{
#pragma acc parallel loop copyin(a[0:n]) copy(b[0:n])
    for (int i = 0; i < n; i++)
        b[i] += a[i];
}

// What the kernel writes must not come back.
// CHECK-LABEL: @written
// CHECK-NOT: {accx.in_place{{.*}}name = "a"
// CHECK: acc.create {{.*}}{accx.in_place{{.*}}name = "b"
void written(int n, float *a, float *b)
{
#pragma acc parallel loop copyin(a[0:n]) copyout(b[0:n])
    for (int i = 0; i < n; i++)
        a[i] = b[i] = 1.0f;
}

// Others may look at either copy meanwhile; a scratch array never comes back.
// CHECK-LABEL: @not_alone
// CHECK-NOT: accx.in_place
void not_alone(int n, float *a, float *b, float *c)
{
#pragma acc parallel loop copy(a[0:n]) async(1)
    for (int i = 0; i < n; i++)
        a[i] = 1.0f;
#pragma acc parallel loop create(b[0:n])
    for (int i = 0; i < n; i++)
        b[i] = 1.0f;
#pragma acc data copy(c[0:n])
    {
        outside(c);
#pragma acc parallel loop present(c[0:n])
        for (int i = 0; i < n; i++)
            c[i] = 1.0f;
    }
}

typedef struct {
    int n;
    double *v, *w;
} vec;

// What points at each other is in place together; rows through pointers are, with their pointers.
// REMARK: works in host memory on 'a', 'a->v', 'b', 'b->v' where not present: no copies
// CHECK-LABEL: @members
// CHECK: acc.copyin {{.*}}accx.in_place{{.*}}name = "a->v"
void members(int n, vec *a, vec *b)
{
#pragma acc parallel loop copyin(a[0:1], a->v[0:n]) copyin(b[0:1]) copyout(b->v[0:n])
    for (int i = 0; i < n; i++)
        b->v[i] = a->v[i] + a->n;
}

// REMARK: works in host memory on 'a', 'b' where not present: no copies
void rows(int n, double **a, double **b)
{
#pragma acc parallel loop copyin(a[0:n][0:n]) copy(b[0:n][0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i][j] = a[i][j];
}

// A pointer that is loaded may lead to whatever is attached, whose change must not come back.
// REMARK: works in host memory on 'c' where not present: no copies
void loaded(int n, vec *a, double *c)
{
#pragma acc parallel loop copyin(a[0:1], a->v[0:n], c[0:n])
    for (int i = 0; i < n; i++) {
        vec *g = a;
        double *p = g->v;
        p[i] = c[i];
    }
}

// CHECK-LABEL: @end
void end(void) {}
