// RUN: accopt %s --emit=scheduled --target=nvptx | filecheck %s

// Two loops tightly in each other around a reduction for lanes: a gang for each pair.
// CHECK-LABEL: @matching
// CHECK:         acc.parallel {{.*}}num_gangs({%num_gangs : i32, %num_gangs_1 : i32}) num_workers(%c1{{[_0-9]*}} : i32) vector_length(%c128
// CHECK:         acc.loop {{.*}}gang control(%y
// CHECK:           acc.loop gang control(%x
// CHECK:             acc.loop vector reduction({{.*}} control(%d
// CHECK:           accx.why = "two loops around others: a gang for each of their iterations"
// CHECK:         accx.schedule = #accx.schedule<gang_dim = 2
void matching(int h, int w, int n, const int *restrict a, const int *restrict b, int *restrict out)
{
#pragma acc parallel loop present(a[0:h*w*n], b[0:h*w*n], out[0:h*w])
    for (int y = 0; y < h; y++)
#pragma acc loop
        for (int x = 0; x < w; x++) {
            int least = 1 << 30;
#pragma acc loop reduction(min:least)
            for (int d = 0; d < n; d++) {
                int s = a[(y * w + x) * n + d] - b[(y * w + x) * n + d];
                least = s < least ? s : least;
            }
            out[y * w + x] = least;
        }
}

// Workers for the middle loop where other statements are between, where the inner loop does not fill the lanes, and where
// the middle one reduces.
// CHECK-LABEL: @others
// CHECK-NOT:     two loops around others
// CHECK:         llvm.return
void others(int h, int w, int n, const int *restrict a, int *restrict out, int *restrict sum)
{
#pragma acc parallel loop present(a[0:h*w*n], out[0:h*w], sum[0:h])
    for (int y = 0; y < h; y++) {
        sum[y] = 0;
#pragma acc loop
        for (int x = 0; x < w; x++) {
            int least = 1 << 30;
#pragma acc loop reduction(min:least)
            for (int d = 0; d < n; d++)
                least = a[(y * w + x) * n + d] < least ? a[(y * w + x) * n + d] : least;
            out[y * w + x] = least;
        }
    }
#pragma acc parallel loop present(a[0:h*w*n], sum[0:h])
    for (int y = 0; y < h; y++) {
        int s = 0;
#pragma acc loop reduction(+:s)
        for (int x = 0; x < w; x++) {
            int least = 1 << 30;
#pragma acc loop reduction(min:least)
            for (int d = 0; d < n; d++)
                least = a[(y * w + x) * n + d] < least ? a[(y * w + x) * n + d] : least;
            s += least;
        }
        sum[y] = s;
    }
}
