// RUN: accopt %s --target=host --managed --emit=data | filecheck %s

// Where host and device share memory, constructs move nothing: all their clauses, but for `capture`.
// CHECK-LABEL: @all
// CHECK: acc.present {{.*}}accx.in_place{{.*}}name = "a"
// CHECK: acc.copyin {{.*}}accx.in_place{{.*}}name = "b"
// CHECK: acc.create {{.*}}accx.in_place{{.*}}name = "c"
void all(int n, float *a, const float *b, float *c)
{
#pragma acc parallel loop present(a[0:n]) copyin(b[0:n]) create(c[0:n])
    for (int i = 0; i < n; i++)
        a[i] += c[i] = b[i];
}

// CHECK-LABEL: @captured
// CHECK-NOT: accx.in_place
void captured(int n, float *a)
{
#pragma acc parallel loop copy(capture: a[0:n])
    for (int i = 0; i < n; i++)
        a[i] += 1;
}

// CHECK-LABEL: @later
// CHECK-NOT: accx.in_place
void later(int n, float *a)
{
#pragma acc parallel loop present(a[0:n]) async(1)
    for (int i = 0; i < n; i++)
        a[i] += 1;
}
