// RUN: accopt %s --target=nvptx --stop-before schedule-loops | filecheck %s

// Several loops over the entries of a row: the lanes of each version share all of them.
// CHECK-LABEL: @normalised
// CHECK:         %mean = llvm.call @__accopt_mean_trip
// CHECK:         scf.if
// CHECK:           acc.parallel {{.*}}num_workers({{.*}}) vector_length(
// CHECK:             acc.loop reduction({{.*}}) control(%e
// CHECK:             accx.note = "the version for rows of at most 48 iterations on average"
// CHECK:             acc.loop control(%e
// CHECK:             accx.note = "the version for rows of at most 48 iterations on average"
void normalised(int n, int m, const int *restrict off, const float *restrict v, float *restrict w)
{
#pragma acc parallel loop present(off[0:n+1], v[0:m], w[0:m])
    for (int i = 0; i < n; i++) {
        float s = 0;
#pragma acc loop reduction(+:s)
        for (int e = off[i]; e < off[i + 1]; e++)
            s += v[e];
#pragma acc loop
        for (int e = off[i]; e < off[i + 1]; e++)
            w[e] = v[e] / s;
    }
}

// Not for loops with different bounds.
// CHECK-LABEL: @different
// CHECK-NOT:     __accopt_mean_trip
// CHECK:         llvm.return
void different(int n, int m, const int *restrict off, const int *restrict end, float *restrict w)
{
#pragma acc parallel loop present(off[0:n+1], end[0:n+1], w[0:m])
    for (int i = 0; i < n; i++) {
        float s = 0;
#pragma acc loop reduction(+:s)
        for (int e = off[i]; e < off[i + 1]; e++)
            s += w[e];
#pragma acc loop
        for (int e = off[i]; e < end[i]; e++)
            w[e] = w[e] / s;
    }
}

// Rows under a condition: a thread takes one that is short. The bounds of a device pointer may not be there.
// CHECK-LABEL: @conditional
// CHECK:         %mean{{.*}} = llvm.call @__accopt_mean_trip
// CHECK:         %fits{{.*}} = arith.cmpi sle, %mean{{.*}}, %c12
// CHECK:         scf.if %fits{{.*}} {
// CHECK:           acc.parallel {{.*}}num_workers(%c1{{[_0-9]*}} : i32) vector_length(%c128
// CHECK:             scf.for %e
// CHECK:         } else {
// CHECK:           acc.parallel {{.*}}vector_length(%c4
// CHECK:             acc.loop reduction({{.*}} control(%e
// CHECK-LABEL: @pointer
// CHECK-NOT:     __accopt_mean_trip
// CHECK:         llvm.return
void conditional(int n, int m, const int *restrict off, const float *restrict v, float *restrict w)
{
#pragma acc parallel loop present(off[0:n+1], v[0:m], w[0:n])
    for (int i = 0; i < n; i++)
        if (w[i] > 0) {
            float s = 0;
#pragma acc loop reduction(+:s)
            for (int e = off[i]; e < off[i + 1]; e++)
                s += v[e];
            w[i] = s;
        }
}
void pointer(int n, int m, const int *restrict off, const float *restrict v, float *restrict w)
{
#pragma acc parallel loop deviceptr(off) present(v[0:m], w[0:n])
    for (int i = 0; i < n; i++)
        if (w[i] > 0) {
            float s = 0;
#pragma acc loop reduction(+:s)
            for (int e = off[i]; e < off[i + 1]; e++)
                s += v[e];
            w[i] = s;
        }
}
