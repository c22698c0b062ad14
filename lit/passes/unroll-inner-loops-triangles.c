// RUN: accopt %s --emit=transformed | filecheck %s
// RUN: accopt %s --emit=ptx | filecheck %s --check-prefix=PTX

// Prices of options: each of many steps has one node less. The loop over nodes runs over all, under conditions, in
// parts, so that the array is in registers.
// CHECK-LABEL: @prices
// CHECK:         scf.for %t
// CHECK:           scf.for %first = {{.*}} {
// CHECK-NEXT:        %runs = arith.cmpi slt, %first, %j_end
// CHECK-NEXT:        scf.if %runs {
// CHECK:               scf.for %number = {{.*}} {
// CHECK-NEXT:            %j{{.*}} = arith.addi %first, %number
// CHECK-NEXT:            %runs{{.*}} = arith.cmpi slt, %j{{.*}}, %j_end
// CHECK-NEXT:            scf.if
// CHECK:               } {accx.unroll = 0 : i32}
// CHECK:           } {accx.unroll = 0 : i32}
// PTX-LABEL:   .entry prices
// PTX-NOT:     .local
// PTX:         ret;
void prices(int n, float up, float down, const float *restrict x, float *restrict out)
{
#pragma acc parallel loop present(x[0:n], out[0:n])
    for (int i = 0; i < n; i++) {
        float v[65];
        for (int j = 0; j <= 64; j++)
            v[j] = x[i] * j;
        for (int t = 63; t >= 0; t--)
            for (int j = 0; j <= t; j++)
                v[j] = up * v[j + 1] + down * v[j];
        out[i] = v[0];
    }
}

// Not where nothing is known of the end, where the longer loop's variable is in a subscript, and where all loops
// are short enough to be unrolled.
// CHECK-LABEL: @declined
// CHECK-NOT:     %runs
// CHECK:         llvm.return
void declined(int n, int m, const float *restrict x, float *restrict out)
{
#pragma acc parallel loop present(x[0:n], out[0:n])
    for (int i = 0; i < n; i++) {
        float v[65], w[65], u[9];
        for (int j = 0; j <= 64; j++)
            w[j] = v[j] = x[i] * j;
        for (int j = 0; j < 9; j++)
            u[j] = v[j];
        for (int t = 63; t >= 0; t--) {
            for (int j = 0; j < m; j++)
                v[j] += v[j + 1];
            for (int j = 0; j < t; j++)
                w[t - j] += w[j];
        }
        for (int t = 7; t >= 0; t--)
            for (int j = 0; j <= t; j++)
                u[j] += u[j + 1];
        out[i] = v[0] + w[0] + u[0];
    }
}
