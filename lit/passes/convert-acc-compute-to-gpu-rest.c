// RUN: accopt %s --emit=gpu --target=nvptx --pass-option 'schedule-loops{elements=4}' | filecheck %s

// The last iterations of a lane are side by side, too, where they only read and reduce scalars: others take the places of
// those that do not exist, and their updates are undone.
// CHECK:       "gpu.func"() {{.*}}kernel}> ({
// CHECK:         scf.for %turn
// CHECK:         %rest{{.*}} = arith.cmpi ult
// CHECK:         scf.if %rest
// CHECK-COUNT-4:   arith.cmpi ult
// CHECK-COUNT-4:   arith.minui
// CHECK-COUNT-4:   arith.addf
// CHECK-COUNT-4:   arith.select
// CHECK-NOT:     scf.for %turn
// CHECK:         gpu.return
void sums(int n, const float *restrict a, float *restrict s)
{
#pragma acc parallel loop present(a[0:n*1000], s[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0;
#pragma acc loop reduction(+:sum)
        for (int j = 0; j < 1000; j++)
            sum += a[i * 1000 + j];
        s[i] = sum;
    }
}

// One after the other where an iteration stores.
// CHECK:       "gpu.func"() {{.*}}kernel}> ({
// CHECK:       "gpu.func"() {{.*}}kernel}> ({
// CHECK-NOT:     %rest
// CHECK:         scf.for %turn
// CHECK:         scf.for %turn
// CHECK-NOT:     %rest
// CHECK:         gpu.return
void stores(int n, const float *restrict a, float *restrict b, float *restrict s)
{
#pragma acc parallel loop present(a[0:n*1000], b[0:n*1000], s[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0;
#pragma acc loop reduction(+:sum)
        for (int j = 0; j < 1000; j++) {
            b[i * 1000 + j] = a[i * 1000 + j] / 2;
            sum += a[i * 1000 + j];
        }
        s[i] = sum;
    }
}
